// All that must hold: types and build, lint, format, every test. The last line counts.
// usage: node scripts/test.mjs [pattern …]   with patterns: the build and the test files that match
import { spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
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
  ['types of the tests', [bin('typescript/bin/tsc'), '--noEmit']],
  ['lint, with types', [bin('oxlint/bin/oxlint'), '--type-aware', '--deny-warnings', ...places]],
  ['lint', [bin('@biomejs/biome/bin/biome'), 'lint', ...places]],
  ['format', [bin('@biomejs/biome/bin/biome'), 'format', '.']],
]
const failedChecks = (patterns.length > 0 ? checks.slice(0, 1) : checks)
  .filter(([title, args]) => !run(title, args))
  .map(([title]) => title)

const jest = ['--experimental-vm-modules', '--no-warnings', bin('jest/bin/jest.js'), '--ci', '--json']

/** Runs jest and reads its totals, file by file; undefined when it did not get that far. */
const runJest = (title, args) => {
  rmSync(results, { force: true })
  run(title, [...jest, `--outputFile=${results}`, ...args])
  try {
    return JSON.parse(readFileSync(results, 'utf8')).testResults
  } catch {
    return undefined
  }
}

/** A file that did not even load counts as one failure. */
const counted = files => {
  const all = files.flatMap(file => file.assertionResults)
  const of = status => all.filter(test => test.status === status).length
  const notLoaded = files.filter(f => f.status === 'failed' && f.assertionResults.length === 0).length
  const failed = of('failed') + notLoaded
  return { passed: of('passed'), failed, skipped: all.length - of('passed') - of('failed') }
}

const first = runJest('tests', patterns) ?? []
const broken = first.filter(file => file.status === 'failed').map(file => file.name)
// Whole worlds run side by side here: a file that fails on a crowded machine is run once more, alone, and that counts.
const mayRepeat = broken.length > 0 && broken.length <= 6
const again = mayRepeat ? (runJest('once more, alone', ['--runInBand', ...broken]) ?? []) : []
if (mayRepeat)
  console.log(`failed beside other tests: ${broken.map(name => relative(root, name)).join(', ')}`)
const decided = mayRepeat ? [...first.filter(file => file.status !== 'failed'), ...again] : first
const { passed, failed, skipped } = counted(decided)
const missing = mayRepeat && again.length < broken.length ? broken.length - again.length : 0

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

const bad = Math.max(failed + missing, passed > 0 ? 0 : 1) + failedChecks.length + left.length
if (failedChecks.length > 0) console.log(`did not hold: ${failedChecks.join('; ')}`)
console.log(`${passed} passed, ${bad} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`)
process.exitCode = bad === 0 ? 0 : 1
