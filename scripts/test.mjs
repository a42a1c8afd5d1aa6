// All that must hold: types and build, lint, format, every test. The last line counts.
// usage: node scripts/test.mjs [pattern …]   with patterns: the build and the test files that match
import { spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const patterns = process.argv.slice(2)
const scratch = mkdtempSync(join(tmpdir(), 'cnibot-test-'))
const results = join(scratch, 'jest.json')
/** In the environment of everything the tests start, so that what they leave behind can be found. */
const runId = randomUUID()

const run = (title, args) => {
  console.log(`\n── ${title}`)
  const env = { ...process.env, TEST_RUN_ID: runId }
  return spawnSync(process.execPath, args, { cwd: root, stdio: 'inherit', env }).status === 0
}

const bin = name => join(root, 'node_modules', name)
const places = ['src', 'test', 'scripts']
const checks = [
  ['types and build', ['scripts/build.mjs', 'build']],
  ['lint, with types', [bin('oxlint/bin/oxlint'), '--type-aware', '--deny-warnings', ...places]],
  ['lint', [bin('@biomejs/biome/bin/biome'), 'lint', ...places]],
  ['format', [bin('@biomejs/biome/bin/biome'), 'format', '.']],
]
const failedChecks = (patterns.length > 0 ? checks.slice(0, 1) : checks)
  .filter(([title, args]) => !run(title, args))
  .map(([title]) => title)

const jest = ['--experimental-vm-modules', '--no-warnings', bin('jest/bin/jest.js')]
run('tests', [...jest, '--ci', '--json', `--outputFile=${results}`, ...patterns])

/** What jest counted; when it did not get that far, one failure. A file that did not even load counts as one. */
const counted = () => {
  try {
    const totals = JSON.parse(readFileSync(results, 'utf8'))
    const notLoaded = totals.numRuntimeErrorTestSuites
    const skipped = totals.numPendingTests + totals.numTodoTests
    return {
      passed: totals.numPassedTests,
      failed: totals.numFailedTests + notLoaded,
      skipped,
      ok: totals.success,
    }
  } catch {
    return { passed: 0, failed: 1, skipped: 0, ok: false }
  }
}
const { passed, failed, skipped, ok } = counted()

/** Processes that outlive the tests that started them. They are ended, and count as a failure. */
const leftovers = () => {
  const found = []
  for (const pid of readdirSync('/proc').filter(name => /^\d+$/.test(name))) {
    try {
      if (!readFileSync(`/proc/${pid}/environ`, 'utf8').includes(`TEST_RUN_ID=${runId}`)) continue
      found.push({
        pid: Number(pid),
        command: readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' '),
      })
    } catch {
      // it ended meanwhile, or is not ours
    }
  }
  return found
}

const left = process.platform === 'linux' ? leftovers() : []
for (const { pid, command } of left) {
  console.log(`left running by a test: ${pid} ${command}`)
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // it ended meanwhile
  }
}
rmSync(scratch, { recursive: true, force: true })

const bad = Math.max(failed, ok && passed > 0 ? 0 : 1) + failedChecks.length + left.length
if (failedChecks.length > 0) console.log(`did not hold: ${failedChecks.join('; ')}`)
console.log(`${passed} passed, ${bad} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`)
process.exitCode = bad === 0 ? 0 : 1
