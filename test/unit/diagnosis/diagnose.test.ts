import { diagnose } from '../../../src/core/diagnosis/diagnose.js'
import {
  type Bundle,
  isKnown,
  known,
  type SandboxEvents,
  unknown,
} from '../../../src/core/evidence/bundle.js'
import { allocation, leakingNode, minute, now, storeWith } from '../leaking-node.js'
import { realCapture } from '../real-capture.js'

const runbooks = [
  {
    name: 'leak-reconcile',
    answers: ['allocations-leaked' as const],
    forbidden_by: ['runtime-silent' as const],
  },
]
const silent = unknown('crictl pods: connection refused', now)
const exhausted =
  'Failed to create pod sandbox: plugin type="bridge" failed (add): failed to allocate for range 0: no IP addresses available in range set: 10.244.7.1-10.244.7.254'

const failing = (message: string, over: Partial<SandboxEvents> = {}): Partial<Bundle> => ({
  events: known(
    [
      {
        namespace: 'platform',
        pod: 'node-exporter-hd8wq',
        podUid: 'uid',
        node: 'node-07',
        count: 14,
        first: now - 41 * minute,
        last: now - minute,
        message,
        folded: true,
        ...over,
      },
    ],
    now,
  ),
})
const names = (bundle: Bundle): string[] => diagnose(bundle, runbooks).findings.map(finding => finding.name)

describe('the leak', () => {
  const verdict = diagnose(leakingNode(41, 212, failing(exhausted)), runbooks, {
    tickets: 4,
    moved: 3,
    overMs: 25 * 60 * minute,
  })

  test('P-R1: an exhausted range with dead owners is a leak, and the plugin runs', () => {
    expect(verdict).toMatchObject({
      cause: 'ipam-leak',
      sure: 'high',
      headline: '212 addresses leaked on node-07, none left',
      runbooks: ['leak-reconcile'],
      escalateTo: undefined,
    })
    expect(verdict.findings.map(finding => finding.name)).toEqual(['range-exhausted', 'allocations-leaked'])
    expect(verdict.says.join(' ')).toMatch(
      /212 addresses for sandboxes that are gone, and 41 for living ones/,
    )
  })

  test('P-E1: the event is in the evidence with count and span', () => {
    expect(verdict.findings[0]?.evidence.join('\n')).toMatch(/node-exporter-hd8wq ×14 in 40 min/)
  })

  test('P-E2 P-P3: Ready is said to be no proof', () => {
    expect(verdict.says.join(' ')).toMatch(
      /Ready, which says that the kubelet and the plugin are up, not that a Pod can be made/,
    )
  })

  test('P-E8: the node looks empty, so the scheduler keeps choosing it, unless it is cordoned', () => {
    const says = (unschedulable: boolean): string => {
      const node = leakingNode(41, 212)
      const facts = isKnown(node.facts) ? known({ ...node.facts.value, unschedulable }, now) : node.facts
      return diagnose({ ...node, facts }, []).says.join(' ')
    }
    expect(says(false)).toMatch(/with 41 of 110 Pods it looks empty, so the scheduler keeps choosing it/)
    expect(says(true)).not.toMatch(/scheduler/)
  })

  test('P-R2: tickets that ended by moving the Pod speak against the node', () => {
    expect(verdict.says.join(' ')).toMatch(
      /4 tickets in 25 h were about this node. Moving the Pod ended 3 of them and repaired nothing/,
    )
  })

  test('P-A6: a restart, deleting the stuck Pods and emptying the folder are warned against', () => {
    expect(verdict.doNot.join('\n')).toMatch(
      /restart the kubelet.*\n.*delete the stuck Pods.*\n.*empty the folder/,
    )
  })

  test('P-A1: the next step is to cordon, then to give them back; where it is cordoned, only the second', () => {
    expect(verdict.next[0]).toBe('Give the 212 back in place; node-07 is cordoned already.')
    const { facts } = leakingNode(41, 212)
    if (!isKnown(facts)) throw new Error('fixture')
    const open = { facts: known({ ...facts.value, unschedulable: false }, facts.at) }
    expect(diagnose(leakingNode(41, 212, open), []).next[0]).toBe(
      'Cordon node-07, then give the 212 back in place.',
    )
  })

  test("without the runtime's own records it is less sure", () => {
    expect(diagnose(leakingNode(41, 212, { records: silent }), []).sure).toBe('medium')
  })

  test('nobody is offered a runbook that a finding forbids; then somebody is called', () => {
    const forbidden = [
      { name: 'x', answers: ['allocations-leaked' as const], forbidden_by: ['range-exhausted' as const] },
    ]
    expect(diagnose(leakingNode(41, 212), forbidden)).toMatchObject({ runbooks: [], escalateTo: 'platform' })
  })

  test('not yet full: what is left is said', () => {
    expect(diagnose(leakingNode(41, 100), [])).toMatchObject({
      cause: 'ipam-leak',
      headline: '100 addresses leaked on node-07, 112 left',
    })
  })

  test('nearly full', () => {
    expect(names(leakingNode(41, 200))).toContain('exhaustion-near')
    expect(names(leakingNode(41, 100))).not.toContain('exhaustion-near')
  })

  test('empty files are nobody’s: a range full of them is leaked', () => {
    const empty = Array.from({ length: 190 }, (_, i) => allocation(i + 65, { owner: '' }))
    const living = Array.from({ length: 63 }, (_, i) => allocation(i + 2))
    const stores = known([storeWith([...living, ...empty])], now)
    const found = diagnose(leakingNode(63, 0, { stores }), runbooks)
    expect(found).toMatchObject({
      cause: 'ipam-leak',
      headline: '190 addresses leaked on node-07, none left',
    })
    expect(found.hypotheses[0]?.cause).toBe('unwritten-files')
  })

  test('an orphan of the last hour: the leak is going on', () => {
    const stores = known([storeWith([allocation(2), allocation(9, { mtime: now - 20 * minute })])], now)
    const found = diagnose(leakingNode(1, 0, { stores }), [])
    expect(found.findings.map(finding => finding.name)).toContain('leak-active')
    expect(found.outlook).toMatch(/^It may be going on now/)
  })

  test.each([
    ['2-leaking', '134 addresses leaked on node-07, 115 left'],
    ['4-exhausted', '208 addresses leaked on node-07, none left'],
    ['8-full-again-after-reboot', '196 addresses leaked on node-07, none left'],
  ])('a real cluster, %s: %s', (moment, headline) => {
    expect(diagnose(realCapture(moment), [])).toMatchObject({ cause: 'ipam-leak', headline })
  })
})
