import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readRunbook } from '../../src/adapters/files/runbook-text.js'
import { createRunbooks, RunbookError, shippedRunbooks } from '../../src/adapters/files/runbooks.js'
import { linesOf } from '../../src/core/runbook/schema.js'

const problemsOf = (text: string): string[] => {
  const read = readRunbook('r.yaml', text)
  return 'problems' in read ? read.problems : []
}
const small = (more = '') => `name: r\ntitle: R\nrisk: low\nanswers: [allocations-leaked]\n${more}`

describe('the shipped runbooks', () => {
  it('are all valid, each with a digest of its text', async () => {
    const runbooks = await createRunbooks().list()
    const files = readdirSync(shippedRunbooks()).filter(name => name.endsWith('.yaml'))
    expect(runbooks.map(runbook => `${runbook.name}.yaml`)).toEqual(files.sort((a, b) => a.localeCompare(b)))
    for (const runbook of runbooks) expect(runbook.digest).toMatch(/^[0-9a-f]{64}$/)
  })

  it('leak-reconcile removes only after the cordon, proves an ADD and a DEL, and is counted again (P-A3, P-A7, P-V1…V5, P-V7)', async () => {
    const [runbook] = (await createRunbooks().list()).filter(one => one.name === 'leak-reconcile')
    expect(runbook).toMatchObject({
      answers: ['allocations-leaked'],
      forbidden_by: ['runtime-silent', 'node-unreachable'],
      watch: { after: 86_400_000, checks: ['allocations-match-sandboxes'] },
    })
    expect(runbook && linesOf(runbook)).toEqual([
      { kind: 'confirm', sentences: [expect.any(String), expect.any(String)] },
      { kind: 'cordon' },
      { kind: 'remove-orphans', older_than: 900_000, readings: 2 },
      { kind: 'expect', check: 'allocations-match-sandboxes', on: 'node' },
      { kind: 'test-pod', via: 'pinned' },
      { kind: 'uncordon' },
      { kind: 'test-pod', via: 'scheduler' },
      { kind: 'expect', check: 'no-new-del-failures', on: 'node', within: 1_800_000 },
      { kind: 'expect', check: 'rollouts-complete', on: 'node' },
      { kind: 'expect', check: 'allocations-match-sandboxes', on: 'node' },
    ])
  })

  it('leak-drain moves the Pods away first, confirms that, then removes and proves as the other does (P-A4)', async () => {
    const runbooks = await createRunbooks().list()
    const [drain, reconcile] = ['leak-drain', 'leak-reconcile'].map(name =>
      runbooks.find(r => r.name === name),
    )
    expect(drain).toMatchObject({
      risk: 'high',
      answers: ['allocations-leaked'],
      forbidden_by: ['runtime-silent', 'node-unreachable'],
      watch: reconcile?.watch,
    })
    const lines = drain ? linesOf(drain) : []
    expect(lines.slice(0, 4)).toEqual([
      { kind: 'confirm', sentences: [expect.any(String), expect.any(String), expect.any(String)] },
      { kind: 'cordon' },
      {
        kind: 'drain',
        delete_emptydir_data: true,
        evict_unmanaged: false,
        deadline: 3_600_000,
        pod_deadline: 300_000,
      },
      { kind: 'expect', check: 'node-drained', on: 'node' },
    ])
    expect(lines.slice(4)).toEqual(reconcile ? linesOf(reconcile).slice(2) : undefined)
  })

  it('offers the cordon alone for a range that is full but not leaking (P-A1)', async () => {
    const runbooks = await createRunbooks().list()
    const offered = runbooks.filter(one => one.answers.includes('range-exhausted')).map(one => one.name)
    expect(offered).toEqual(['cordon'])
  })
})

describe('a runbook that cannot be used', () => {
  it.each([
    [
      'an unknown key',
      small('steps:\n  - kind: cordon\n    force: true\n'),
      'r.yaml:7: steps 1: "force" is not known here; remove it or correct its name',
    ],
    [
      'an unknown kind',
      small('steps:\n  - kind: cordon\n  - kind: shell\n'),
      'r.yaml:7: steps 2.kind: "shell" is not possible; write one of confirm, expect, cordon, uncordon, drain, remove-orphans, test-pod',
    ],
    [
      'a missing kind',
      small('steps:\n  - check: rollouts-complete\n'),
      'r.yaml:6: steps 1.kind: is missing; write one of confirm, expect, cordon, uncordon, drain, remove-orphans, test-pod',
    ],
    [
      'a duration in words',
      small('steps:\n  - kind: remove-orphans\n    older_than: 15 minutes\n'),
      'r.yaml:7: steps 1.older_than: "15 minutes" must be a duration such as 30s, 15m, 24h or 7d',
    ],
    [
      'one reading',
      small('steps:\n  - kind: remove-orphans\n    readings: 1\n'),
      'r.yaml:7: steps 1.readings: 1 is not possible; write one of 2',
    ],
    [
      'a finding that does not exist',
      small('forbidden_by: [full-moon]\nsteps:\n  - kind: cordon\n'),
      'r.yaml:5: forbidden_by 1: "full-moon" is not possible; write one of range-exhausted, allocations-leaked,',
    ],
    ['no steps', small(), 'r.yaml:1: steps: is missing; write a list'],
    [
      'a bad name',
      small('steps: [{kind: cordon}]').replace('name: r', 'name: Leak Reconcile'),
      'r.yaml:1: name: "Leak Reconcile" must be of the form',
    ],
    ['broken YAML', 'name: [a\nsteps: b\n', 'r.yaml:2: not YAML: '],
    ['a key twice', small('name: s\nsteps: [{kind: cordon}]'), 'r.yaml:5: not YAML: '],
    [
      'an alias',
      small('steps: &x [{kind: cordon}]\nverify: *x\n'),
      'r.yaml:1: aliases (*name) are not allowed',
    ],
    ['nothing at all', '', 'r.yaml:1: '],
  ])('names the line and what to write instead: %s', (_what, text, expected) => {
    expect(problemsOf(text).join('\n')).toContain(expected)
  })

  it('is told together with all others', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'cnibot-runbooks-'))
    writeFileSync(join(folder, 'one.yaml'), small('steps: []\n'))
    writeFileSync(
      join(folder, 'cordon.yaml'),
      small('steps: [{kind: cordon}]').replace('name: r', 'name: cordon'),
    )
    writeFileSync(join(folder, 'other.yaml'), small('steps: [{kind: cordon}]'))
    writeFileSync(join(folder, 'notes.txt'), 'not a runbook')
    const attempt = createRunbooks(folder).list()
    await expect(attempt).rejects.toThrow(RunbookError)
    const { problems } = await attempt.then(
      () => ({ problems: [] }),
      (error: RunbookError) => error,
    )
    expect(problems).toHaveLength(3)
    expect(problems.join('\n')).toMatch(
      /one\.yaml:5: steps: .*\n.*the name cordon is taken by .*\n|the file must be called r\.yaml/,
    )
    rmSync(folder, { recursive: true })
  })

  it('is a folder that is not there', async () => {
    await expect(createRunbooks('/nowhere/runbooks').list()).rejects.toThrow(
      /\/nowhere\/runbooks: .*CNIBOT_RUNBOOKS_DIR/,
    )
  })
})
