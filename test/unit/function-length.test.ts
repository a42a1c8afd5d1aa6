import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseSync } from '@swc/core'

const most = 40
/** On the line above a function that is better whole; what follows is the reason. */
const reason = /\/\/ long: \S/

/** Above the limit and without a reason in the code: each waits to be taken apart, or to get its reason there. */
const waiting = new Map([
  ['adapters/kubernetes/cluster.ts', 'a port: all its methods in one object'],
  ['adapters/redis/history.ts', 'a port: all its methods in one object'],
  ['adapters/redis/job-worker.ts', 'the queue, and all that can happen to a job of it'],
  ['adapters/ssh/exec.ts', 'one channel from opening to end: its timers and streams share what they know'],
  ['core/diagnosis/causes-by-time.ts', 'one cause with its evidence for and against'],
  ['core/evidence/parse/allocations.ts', 'one pass over the entries of a store'],
  ['core/evidence/parse/answers.ts', 'one field for each question of the bundle'],
  ['core/incident/incident.ts', 'the transition table: one arm for each event'],
  ['core/requests.ts', 'the test Pod as it is sent: one object'],
  ['core/runbook/run.ts', 'the transition table: one arm for each event'],
  ['flows/open-run.ts', 'what is checked before and after one append'],
  ['flows/recount.ts', 'one look, and what is recorded of it'],
  ['steps/remove-orphans.ts', 'one plan, and what is shown of it'],
  ['view/evidence/file.ts', 'the file, section after section'],
])

interface Syntax {
  type: string
  span: { start: number; end: number }
  body?: unknown
}

const isSyntax = (value: unknown): value is Syntax =>
  typeof value === 'object' && value !== null && 'type' in value && 'span' in value

const isFunction = (value: unknown): value is Syntax =>
  isSyntax(value) &&
  /^(Function(Declaration|Expression)|ArrowFunctionExpression|Constructor|(Class|Private)Method|(Method|Getter|Setter)Property)$/.test(
    value.type,
  )

/** Every function in the tree; of `deps => job => …` the whole only. */
const functionsIn = (value: unknown): Syntax[] => {
  if (typeof value !== 'object' || value === null) return []
  if (!isFunction(value)) return Object.values(value).flatMap(functionsIn)
  let inside: unknown = value.body
  while (isFunction(inside)) inside = inside.body
  const rest = inside === undefined ? Object.values(value) : [inside]
  return [value, ...rest.flatMap(functionsIn)]
}

interface Long {
  line: number
  lines: number
  excused: boolean
}

const longIn = (text: string): Long[] => {
  const bytes = Buffer.from(text)
  // Positions count bytes, from 1.
  const lineAt = (position: number): number =>
    bytes.subarray(0, position - 1).reduce((lines, byte) => lines + (byte === 10 ? 1 : 0), 1)
  const written = text.split('\n')
  return functionsIn(parseSync(text, { syntax: 'typescript', target: 'es2022' }).body)
    .map(({ span }) => ({ line: lineAt(span.start), lines: lineAt(span.end) - lineAt(span.start) + 1 }))
    .filter(({ lines }) => lines > most)
    .map(one => ({ ...one, excused: reason.test(written[one.line - 2] ?? '') }))
}

describe('the length of functions', () => {
  const body = 'x()\n'.repeat(40)

  it.each([
    ['an arrow', `const f = () => {\n${body}}`, 1],
    ['an arrow behind umlauts', `// äöü…\nconst f = () => {\n${body}}`, 2],
    ['a declaration', `function f() {\n${body}}`, 1],
    ['a method', `class A {\n  f() {\n${body}}\n}`, 2],
    ['a getter', `class A {\n  get f() {\n${body}}\n}`, 2],
    ['a method of an object', `const a = {\n  f() {\n${body}},\n}`, 2],
    ['one inside another', `// long: whole\nconst f = () => {\n  const g = () => {\n${body}}\n}`, 3],
    ['one behind a short one', `const f = () => () => {\n${body}}`, 1],
  ])('finds %s', (_what, text, line) => {
    expect(
      longIn(text)
        .filter(one => !one.excused)
        .map(one => one.line),
    ).toContain(line)
  })

  it('lets one pass that says why', () => {
    expect(longIn(`// long: one arm for each event\nconst f = () => {\n${body}}`)).toEqual([
      { line: 2, lines: 42, excused: true },
    ])
    expect(longIn(`// long:\nconst f = () => {\n${body}}`)).toMatchObject([{ excused: false }])
  })

  it(`is at most ${most} lines in src, or the line above says why`, () => {
    const src = join(import.meta.dirname, '../../src')
    const found = readdirSync(src, { recursive: true, encoding: 'utf8' })
      .filter(path => path.endsWith('.ts') && !waiting.has(path))
      .flatMap(path =>
        longIn(readFileSync(join(src, path), 'utf8'))
          .filter(one => !one.excused)
          .map(({ line, lines }) => `${path}:${line}: ${lines} lines`),
      )
    expect(found).toEqual([])
  })
})
