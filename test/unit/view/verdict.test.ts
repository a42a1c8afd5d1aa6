import { diagnose } from '../../../src/core/diagnosis/diagnose.js'
import { known } from '../../../src/core/evidence/bundle.js'
import { verdictGroups, verdictMessage } from '../../../src/view/verdict.js'
import { asPlain } from '../../../src/view/text.js'
import { leakingNode, minute, now } from '../leaking-node.js'

const failing = (message: string) => ({
  events: known(
    [
      {
        namespace: 'payments',
        pod: 'api-1',
        podUid: 'uid',
        node: 'node-07',
        count: 14,
        first: now - 41 * minute,
        last: now - minute,
        message,
        folded: true,
      },
    ],
    now,
  ),
})
const linesOf = (bundle: ReturnType<typeof leakingNode>): string[][] =>
  verdictGroups(diagnose(bundle, [])).map(group => group.map(asPlain))

describe('P-R3: a verdict is three sentences, then the rest', () => {
  test('a leak: what, why we think so, what to do first', () => {
    expect(linesOf(leakingNode(41, 212))[0]).toEqual([
      '212 addresses leaked on node-07, none left · sure',
      'Why: The store counts 212 addresses for sandboxes that are gone, and 41 for living ones.',
      'Next: Give the 212 back in place; node-07 is cordoned already.',
    ])
  })

  test('another trouble, in the words of the cause rules', () => {
    const message = 'failed to get sandbox image "registry.example/pause:3.6": failed to pull image'
    const [first, ...rest] = linesOf(leakingNode(41, 0, failing(message)))
    expect(first?.[0]).toBe('An image cannot be pulled (node-07) · likely')
    expect(first?.[1]).toBe(
      'Why: The sandbox image cannot be pulled. "failed to get sandbox image "registry.example/pause:3.6": failed to pull image"',
    )
    expect(first?.[2]).toMatch(/^Next: /)
    expect(rest.flat()).toContain('The address range is not the trouble here.')
  })

  test('no trouble: two sentences, and nothing to do', () => {
    expect(linesOf(leakingNode(52, 0))).toEqual([
      [
        'node-07 can give new Pods an address · sure',
        'Why: 52 of 253 addresses taken, none without a sandbox.',
      ],
    ])
  })

  test('in Slack they stay open, and what follows may fold; what must not be done keeps a block of its own', () => {
    const { blocks } = verdictMessage(diagnose(leakingNode(41, 212), []))
    expect(blocks.map(({ expand }) => expand)).toEqual([true, ...blocks.slice(1).map(() => undefined)])
    const own = blocks.filter(block => JSON.stringify(block).includes('"*Do not* restart the kubelet'))
    expect(own).toHaveLength(1)
  })
})
