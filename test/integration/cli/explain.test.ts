import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { BundleAnswer } from '../../../src/core/explain/explain-bundle.js'
import { leakingNode } from '../../unit/leaking-node.js'
import { bundled, type Program } from '../redis/bundled.js'

const cases = 'test/fixtures/cases'
const keys = [
  'actions',
  'also',
  'ask_for',
  'cause',
  'changes',
  'confidence',
  'escalate_to',
  'hypotheses',
  'warnings',
]
let program: Program
let dir: string

interface Ended {
  code: number
  stdout: string
  stderr: string
}

/** `cnibot explain …` as a person starts it: no settings, no cluster. */
const explain = (args: string[], input?: string | Buffer): Promise<Ended> =>
  new Promise(resolve => {
    const child = execFile(
      process.execPath,
      [program.path, 'explain', ...args],
      { env: { PATH: process.env.PATH ?? '' }, maxBuffer: 64 * 1024 * 1024, timeout: 120_000 },
      (error, stdout, stderr) =>
        resolve({ code: typeof error?.code === 'number' ? error.code : error ? -1 : 0, stdout, stderr }),
    )
    child.stdin?.on('error', () => {})
    child.stdin?.end(input ?? '')
  })

const written = (name: string, content: string | Buffer): string => {
  const path = join(dir, name)
  writeFileSync(path, content)
  return path
}
const answerOf = ({ stdout }: Ended): BundleAnswer => JSON.parse(stdout) as BundleAnswer
const [firstCase = ''] = readdirSync(cases).sort()
const caseText = readFileSync(join(cases, firstCase), 'utf8')
const bundle = leakingNode(12, 241)

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'cnibot-explain-'))
  program = await bundled('src/cli.ts')
}, 120_000)
afterAll(() => {
  program.remove()
  rmSync(dir, { recursive: true, force: true })
})

describe('P-R3 explain reads', () => {
  test('a bundle as diagnose --json prints it, and bare: one answer, with the class of the leak', async () => {
    const shaped = await explain([written('shaped.json', JSON.stringify({ bundle, verdict: {} })), '--json'])
    const bare = await explain([written('bare.json', JSON.stringify(bundle)), '--json'])
    expect(shaped).toMatchObject({ code: 0, stderr: '' })
    expect(bare.stdout).toBe(shaped.stdout)
    const answer = answerOf(shaped)
    expect(Object.keys(answer).sort()).toEqual([...keys, 'leak_classes', 'outlook'].sort())
    expect(answer).toMatchObject({ cause: 'ipam-leak', confidence: 'high' })
    expect(answer.leak_classes?.map(each => each.class)).toContain('lost-at-restart')
    expect(Object.keys(answer.leak_classes?.[0] ?? {}).sort()).toEqual(
      ['against', 'class', 'for', 'missing', 'says'].sort(),
    )
  }, 120_000)

  test('a case, from a file, from standard input with - and without a name', async () => {
    const fromFile = await explain([join(cases, firstCase), '--json'])
    const dash = await explain(['-', '--json'], caseText)
    const piped = await explain(['--json'], caseText)
    expect(fromFile).toMatchObject({ code: 0, stderr: '' })
    expect(Object.keys(answerOf(fromFile)).sort()).toEqual(keys)
    expect(Object.keys(answerOf(fromFile).hypotheses[0] ?? {}).sort()).toEqual(
      ['against', 'cause', 'for', 'missing'].sort(),
    )
    expect([dash.stdout, piped.stdout]).toEqual([fromFile.stdout, fromFile.stdout])
  }, 120_000)

  test('a bundle with a damaged part: said on standard error, answered without it', async () => {
    const damaged = { ...bundle, sandboxes: { at: 1, value: 'many' } }
    const ended = await explain([written('damaged.json', JSON.stringify(damaged)), '--json'])
    expect(ended.code).toBe(0)
    expect(ended.stderr).toMatch(/damaged\.json: sandboxes: .*; taken as not looked at\n$/)
    expect(answerOf(ended).changes).not.toContain('remove-orphans')
  }, 120_000)

  test('at a terminal: what, why and what first in three lines, and no marks of Slack', async () => {
    const { code, stdout, stderr } = await explain([join(dir, 'bare.json')])
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    const [what, why, first, blank] = stdout.split('\n')
    expect(what).toMatch(/^Addresses stay reserved .* · sure$/)
    expect(why).toMatch(/^Why: 241 addresses of 253 taken /)
    expect(first).toMatch(/^First: /)
    expect(blank).toBe('')
    expect(stdout).toMatch(/^Why they leaked, most likely: Teardown was lost when containerd restarted /m)
    expect(stdout).toMatch(/^Will it come back\? /m)
    for (const mark of ['*', '`', '\u001b']) expect(stdout).not.toContain(mark)
  }, 120_000)
})

/** A case that keeps only what may be read, under another name and with everything else made up. */
const scrambled = (text: string): string => {
  const { inputs, environment } = JSON.parse(text) as Record<string, unknown>
  const lie = 'duplicate-ip'
  return JSON.stringify({
    provenance: lie,
    title: lie,
    expected: { cause_code: lie, also_accept: [lie], must_not: [], confidence: 'high' },
    difficulty: { level: lie },
    summary: lie,
    source: [lie],
    id: lie,
    environment,
    inputs,
  })
}

test("P-R3 a case's other keys and its name never change the answer", async () => {
  const names = readdirSync(cases)
    .sort()
    .filter((_, n) => n % 13 === 0)
  for (const name of names) {
    const text = readFileSync(join(cases, name), 'utf8')
    const { inputs, environment } = JSON.parse(text) as Record<string, unknown>
    const whole = await explain([join(cases, name), '--json'])
    const stripped = await explain(['-', '--json'], JSON.stringify({ inputs, environment }))
    const lying = await explain([written('duplicate-ip.json', scrambled(text)), '--json'])
    expect(whole.code).toBe(0)
    expect([stripped.stdout, lying.stdout]).toEqual([whole.stdout, whole.stdout])
  }
}, 240_000)

describe('explain refuses with one line and 2', () => {
  const wrong = (change: (inputs: Record<string, unknown>) => void): string => {
    const value = JSON.parse(caseText) as { inputs: Record<string, unknown> }
    change(value.inputs)
    return JSON.stringify(value)
  }
  test.each<[string, string | Buffer | undefined, RegExp]>([
    ['no such file', undefined, /: there is no such file$/],
    ['an empty file', '', /: it is empty; a saved bundle or a case is expected$/],
    ['text', 'Failed to create pod sandbox', /: no JSON: /],
    ['binary garbage', Buffer.from([0x1b, 0x5b, 0x32, 0x4a, 0, 0xff, 0xfe, 0x0a, 0x80, 0x7b]), /: no JSON: /],
    ['a list', '[1,2]', /: neither a saved bundle .* nor a case /],
    ['null', 'null', /: neither a saved bundle /],
    ['JSON of another kind', '{"apiVersion":"v1","kind":"Pod"}', /: neither a saved bundle /],
    ['a wrong part', wrong(inputs => (inputs.crictl = { ready: 'many' })), /: inputs\.crictl\.ready: /],
    [
      'a wrong part in a list',
      wrong(inputs => (inputs.events = [{ message: 'x', count: -1 }])),
      /: inputs\.events\.0\.count: /,
    ],
    ['a bundle without a node', JSON.stringify({ collectedAt: 1, stores: {} }), /: node: /],
  ])(
    '%s',
    async (name, content, says) => {
      const path = content === undefined ? join(dir, 'nothing-here.json') : written('input.json', content)
      const { code, stdout, stderr } = await explain([path, '--json'])
      expect({ name, code, stdout }).toEqual({ name, code: 2, stdout: '' })
      expect(stderr).toMatch(/^cnibot: [^\n]*\n$/)
      expect(stderr.trimEnd()).toMatch(says)
      expect(stderr.slice(0, -1)).not.toMatch(/\p{Cc}/u)
    },
    120_000,
  )

  test('a folder, and nothing on standard input', async () => {
    mkdirSync(join(dir, 'folder'), { recursive: true })
    expect(await explain([join(dir, 'folder')])).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/^cnibot: .*folder: it is a folder; name the file in it\n$/),
    })
    expect(await explain(['-'])).toMatchObject({
      code: 2,
      stderr: 'cnibot: standard input: it is empty; a saved bundle or a case is expected\n',
    })
  }, 120_000)
})
