import type { Code } from './code.js'
import type { Entry, Order, RuleNode } from './rule-node.js'

/** What must happen on a node by one rule; throws where it does not. */
export type NodeCheck = (code: Code, node: RuleNode) => Promise<void>

/** The order is refused with one line, and no file has moved. */
export const refuses = async (
  { script }: Code,
  node: RuleNode,
  list: Entry[],
  said: RegExp,
  how: Order = {},
): Promise<void> => {
  const { code, stderr, moved } = await node.order(script, list, how)
  expect({ code: (code ?? 0) >= 64, stderr, moved }).toEqual({
    code: true,
    stderr: expect.stringMatching(said),
    moved: [],
  })
  for (const one of list.filter(({ ip }) => ip.includes('.'))) expect(node.has(one)).toBe(true)
}
export const first = <T>(list: T[]): T => {
  const [one] = list
  if (one === undefined) throw new Error('an empty list')
  return one
}
