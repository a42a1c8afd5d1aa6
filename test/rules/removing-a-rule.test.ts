import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pLimit from 'p-limit'
import { type Code, type Edit, editedCode } from './code.js'
import { coreChecks } from './core-checks.js'
import { checkOnNode, nodeChecks } from './node-checks.js'
import { removals } from './removals.js'
import { rules } from './rules.js'

let dir: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'cnibot-without-'))
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

const fails = async (check: () => void | Promise<void>): Promise<boolean> => {
  try {
    await check()
    return false
  } catch {
    return true
  }
}

/** Rules whose test fails on this code. What a node does depends on the scripts alone: where they are as shipped, on nothing. */
const failing = async (code: Code, edits: readonly Edit[], onNode: number[]): Promise<number[]> => {
  const touched = (part: string) => edits.some(({ file }) => file.startsWith(part))
  const limit = pLimit(2)
  const found = await Promise.all(
    rules.map(async ([rule]) => {
      const core = touched('core/') && (await fails(() => coreChecks[rule]?.(code)))
      const node =
        touched('adapters/') &&
        onNode.includes(rule) &&
        (await limit(() => fails(() => checkOnNode(rule, code))))
      return core || node ? [rule] : []
    }),
  )
  return found.flat()
}

const everywhere = Object.keys(nodeChecks).map(Number)

describe('a rule is taken out of the code, and exactly its test fails:', () => {
  test.each(rules)(
    'rule %i',
    async rule => {
      const edits = removals.filter(one => one.rule === rule).flatMap(one => one.edits)
      expect(edits.length).toBeGreaterThan(0)
      expect(await failing(await editedCode(dir, edits), edits, everywhere)).toEqual([rule])
    },
    180_000,
  )
})

describe('one guard of a rule is taken out, and the test of that rule fails:', () => {
  test.each(removals)('rule $rule: $guard', async ({ rule, edits }) => {
    expect(await failing(await editedCode(dir, edits), edits, [rule])).toEqual([rule])
  })
})

test('an edit that matches nothing, or more than once, says that the table needs an update', async () => {
  const file = 'core/ipam/removal.ts'
  const edit = (remove: string) => editedCode(mkdtempSync(join(dir, 'copy-')), [{ file, remove }])
  await expect(edit('no such rule')).rejects.toThrow(
    /found 0 times .*the table needs an update: no such rule/,
  )
  await expect(edit('const')).rejects.toThrow(/found \d\d times instead of once in core\/ipam\/removal\.ts/)
})
