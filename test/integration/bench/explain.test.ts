import { spawnSync } from 'node:child_process'

test('the bench of explain measures against its limits, in one run', () => {
  const { stdout, stderr, status } = spawnSync(process.execPath, ['test/bench/run.mjs', 'explain', '1'], {
    encoding: 'utf8',
  })
  expect({ stderr, status }).toEqual({ stderr: '', status: 0 })
  const lines = stdout.trim().split('\n')
  expect(lines).toHaveLength(4)
  for (const line of lines)
    expect(line).toMatch(/^(one case|1 MB of journal), .*: [\d.]+ ms, limit (20|200) ms, ratio \d+\.\d\d$/)
  process.stdout.write(stdout)
})
