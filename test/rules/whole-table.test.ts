import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { editedCode } from './code.js'
import { coreChecks } from './core-checks.js'
import { entries, refusals, script } from './removal-edits.js'
import { removals } from './removals.js'
import { spokenIn } from './spoken.js'

const read = (file: string): string => readFileSync(join(import.meta.dirname, '../../src', file), 'utf8')
/** By the table; a rule that says what two of the ten ask for stands there twice. */
const rulesOf = (name: string): number[] =>
  removals.filter(({ guard }) => guard === name || guard.startsWith(`${name}: `)).map(({ rule }) => rule)

describe('the table of guards is whole:', () => {
  test.each([
    [refusals, 'nodeRules'],
    [entries, 'entryRules'],
  ])('each rule of %s stands in it', (file, list) => {
    const names = new RegExp(`const ${list}: .* = \\[([^\\]]*)\\]`).exec(read(file))?.[1]?.match(/\w+/g) ?? []
    expect(names.length).toBeGreaterThan(5)
    expect(names.filter(name => rulesOf(name).length === 0)).toEqual([])
  })

  /** What the script refuses by none of the ten rules: how it is called, who calls it, and what another guard says again. */
  const noRule = [
    /^64 '(?:say remove|--)|^64 "(?:\$1|unknown|--quarantine must)/, // its own options
    /^65 "the first line of standard input/,
    /^78 "the script installed on this node/,
    /^78 'the boot id cannot be read|^78 "\$QUARANTINE cannot be made|^78 "\$DIR\/lock cannot be opened/, // else the next line
    /^75 'another removal|^76 "a newer order|^78 "\$ROOT\/fence cannot|^78 'the fence cannot/, // orders in turn
    /^78 "what is decided by|^80 "what this try did/, // a full disk has its own test
    /^69 'ip is not installed/, // else it cannot be asked
  ]
  test('each refusal of the script stands in it, or is none of the ten rules’', () => {
    const lines = read(script).split('\n')
    const cut = lines.map((_, i) => {
      const start = lines.slice(0, i).join('\n').length + (i > 0 ? 1 : 0)
      const end = start + (lines[i]?.length ?? 0)
      return removals
        .flatMap(({ edits }) => edits.filter(({ file }) => file === script))
        .some(({ remove }) => {
          const at = read(script).indexOf(remove)
          return at < end && at + remove.length > start
        })
    })
    const refused = lines.flatMap((line, i) =>
      [...line.matchAll(/refuse (\d\d .*)/g)].map(([, said = '']) => ({ said, i })),
    )
    expect(refused.length).toBeGreaterThan(30)
    // A refusal that goes on from the line before it is cut there.
    const open = refused.filter(
      ({ said, i }) => !cut[i] && !cut[i - 1] && !noRule.some(words => words.test(said)),
    )
    expect(open.map(({ said }) => said)).toEqual([])
    expect(noRule.filter(words => !refused.some(({ said }) => words.test(said)))).toEqual([])
  })
})

const spoken = [
  ...spokenIn(refusals, 'runtimeAnswers', 'nodeRules'),
  ...spokenIn(entries, 'isCanonicalName', 'entryRules'),
].filter(({ words }) => words.includes(' '))

describe('one reason of a rule is never given, and the test of that rule fails:', () => {
  let dir: string
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'cnibot-silent-'))
  })
  afterEach(() => rmSync(dir, { recursive: true, force: true }))

  test.each(spoken)('$by: $words', async ({ by, edit }) => {
    const checks = rulesOf(by === 'endpointDoubt' ? 'endpointIsKubelets' : by).map(rule => coreChecks[rule])
    const code = await editedCode(dir, [edit])
    const passes = checks.filter(check => {
      try {
        check?.(code)
        return true
      } catch {
        return false
      }
    })
    expect(passes.length).toBeLessThan(checks.length)
  })
})
