import { diagnose } from '../../../src/core/diagnosis/diagnose.js'
import {
  type Bundle,
  isKnown,
  known,
  type SandboxEvents,
  unknown,
} from '../../../src/core/evidence/bundle.js'
import { explain } from '../../../src/core/explain/explain.js'
import { reportOf } from '../../../src/core/report/read-bundle.js'
import { bundleWithoutAnswers } from '../../fakes/bundle.js'
import { allocation, leakingNode, minute, now, sandbox, storeWith } from '../leaking-node.js'
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

describe('not the leak', () => {
  test('full with living owners: no repair, capacity planning is called', () => {
    const verdict = diagnose(leakingNode(253, 0, failing(exhausted)), runbooks)
    expect(verdict).toMatchObject({
      cause: 'ipam-full-no-leak',
      sure: 'high',
      runbooks: [],
      escalateTo: 'capacity planning',
    })
    expect(verdict.findings.map(finding => finding.name)).toEqual(['range-exhausted', 'range-too-small'])
    expect(verdict.doNot.join(' ')).toMatch(/living Pods own them/)
  })

  test('full with living owners and a few orphans: the range is the trouble', () => {
    expect(diagnose(leakingNode(250, 3), runbooks)).toMatchObject({
      cause: 'ipam-full-no-leak',
      headline: 'All 253 addresses are taken, only 3 of them leaked',
      runbooks: ['leak-reconcile'],
      escalateTo: 'capacity planning',
    })
  })

  test('full, all owners listed, teardown fails now: the DEL has to be made to work', () => {
    const listed = Array.from({ length: 253 }, (_, i) => sandbox(i + 2, i < 200 ? { state: 'notready' } : {}))
    const lines = [{ at: now - minute, unit: 'containerd', text: 'StopPodSandbox for \\"x\\" failed' }]
    const node = leakingNode(253, 0)
    const journal = isKnown(node.journal) ? known({ ...node.journal.value, lines }, now) : node.journal
    expect(diagnose({ ...node, journal, sandboxes: known(listed, now) }, [])).toMatchObject({
      cause: 'cni-del-failing',
    })
  })

  test.each([
    ['failed to find plugin "portmap" in path [/opt/cni/bin]', 'cni-plugin-missing', 'plugin-not-running'],
    ['fork/exec /opt/cni/bin/bridge: exec format error', 'cni-plugin-missing', 'plugin-not-running'],
    [
      'failed to setup network for sandbox "x": cni plugin not initialized',
      'cni-config-missing',
      'plugin-not-running',
    ],
    ['rpc error: code = Unavailable desc = connect: connection refused', 'runtime-error', 'runtime-silent'],
  ])('P-R1: %s: the plugin does not run (%s)', (message, cause, finding) => {
    const verdict = diagnose(leakingNode(10, 0, failing(message)), runbooks)
    expect(verdict).toMatchObject({ cause, escalateTo: 'platform', runbooks: [] })
    expect(verdict.findings[0]?.name).toBe(finding)
  })

  test('a plugin that is missing while addresses leak is the trouble, and the leak is named', () => {
    const recent = Array.from({ length: 12 }, (_, i) => allocation(i + 12, { mtime: now - 12 * minute + i }))
    const living = Array.from({ length: 10 }, (_, i) => allocation(i + 2))
    const node = leakingNode(10, 0, {
      ...failing('plugin type="nosuch" failed (add): failed to find plugin "nosuch" in path [/usr/lib/cni]'),
      stores: known([storeWith([...living, ...recent])], now),
    })
    const verdict = diagnose(node, runbooks)
    expect(verdict.cause).toBe('cni-plugin-missing')
    expect(verdict.says.join(' ')).toMatch(/each retry leaks one/)
    expect(verdict.findings.map(finding => finding.name)).toEqual(
      expect.arrayContaining(['plugin-not-running', 'allocations-leaked', 'leak-active']),
    )
  })

  test.each([
    [
      'failed to get sandbox image "registry.example/pause:3.6": failed to pull image',
      'image-pull',
      'not-cni',
    ],
    [
      'MountVolume.SetUp failed for volume "config" : configmap "web" not found',
      'secret-or-configmap-missing',
      'not-cni',
    ],
    ['OCI runtime create failed: cgroupsPath', 'runtime-error', 'not-cni'],
    [
      'plugin type="calico" failed (add): Assigned 0 out of 1 requested IPv4 addresses',
      'other',
      'nothing-found',
    ],
    ['unable to connect to Cilium agent', 'cni-agent-down', 'agent-not-ready'],
    ['connection is unauthorized: Unauthorized', 'cni-auth', 'agent-not-ready'],
    ['write /var/lib/cni/results/x: no space left on device', 'node-pressure', 'nothing-found'],
    ['name "web" is reserved for "x"', 'sandbox-name-conflict', 'nothing-found'],
  ])('another cause is told apart: %s is %s', (message, cause, finding) => {
    const verdict = diagnose(leakingNode(10, 0, failing(message)), runbooks)
    expect(verdict).toMatchObject({ cause, runbooks: [] })
    expect(verdict.escalateTo).toBeTruthy()
    expect(verdict.next[0]).toBeTruthy()
    expect(verdict.findings[0]?.name).toBe(finding)
  })

  const elsewhere = [
    'failed to find plugin "portmap" in path [/opt/cni/bin]',
    'cni plugin not initialized',
    'failed to get sandbox image "registry.example/pause:3.6": failed to pull image',
    'MountVolume.SetUp failed for volume "config" : configmap "web" not found',
    'OCI runtime create failed: cgroupsPath',
    'unable to connect to Cilium agent',
    'connection is unauthorized: Unauthorized',
    'write /var/lib/cni/results/x: no space left on device',
  ]

  test.each(elsewhere)('P-R3: the thread and `cnibot explain` say the same: %s', message => {
    const node = leakingNode(10, 0, failing(message))
    const { cause, confidence, hypotheses, actions, warnings, escalate_to } = explain(reportOf(node))
    const verdict = diagnose(node, runbooks)
    expect(verdict).toMatchObject({ cause, sure: confidence, doNot: warnings })
    expect(verdict.says[0]).toBe(hypotheses[0]?.for[0])
    expect(verdict.says).toContain('The address range is not the trouble here.')
    expect(verdict.next[0]).toBe(actions[0]?.why)
    expect(verdict.escalateTo).toBe(escalate_to ?? 'platform')
  })

  // What is left does not matter: on a full node too the other trouble comes first, and its events end with it.
  test.each(elsewhere.flatMap(message => [100, 243].map(orphans => ({ message, orphans }))))(
    'P-R3: events about another thing offer no repair beside $orphans leaked addresses: $message',
    ({ message, orphans }) => {
      const node = leakingNode(10, orphans, failing(message))
      const verdict = diagnose(node, runbooks)
      const answer = explain(reportOf(node))
      expect(verdict.cause).not.toMatch(/^ipam/)
      expect(answer).toMatchObject({ cause: verdict.cause, also: expect.arrayContaining(['ipam-leak']) })
      expect(verdict.runbooks).toEqual([])
      expect(answer.changes).toEqual([])
      expect(verdict.says.join(' ')).toMatch(new RegExp(`Beside it ${orphans} addresses leaked`))
    },
  )

  test('one Pod whose message says that the range is used up: the leak is the trouble again', () => {
    const events = [failing(elsewhere[2] ?? ''), failing(exhausted)].flatMap(part =>
      part.events && isKnown(part.events) ? part.events.value : [],
    )
    const node = leakingNode(41, 212, { events: known(events, now) })
    expect(diagnose(node, runbooks)).toMatchObject({ cause: 'ipam-leak', runbooks: ['leak-reconcile'] })
    expect(explain(reportOf(node))).toMatchObject({ cause: 'ipam-leak', also: ['image-pull'] })
  })

  test('a message that nobody knows, or that only tells of time, does not outweigh counted orphans', () => {
    for (const message of [
      'something never seen',
      'code = DeadlineExceeded desc = context deadline exceeded',
    ])
      expect(diagnose(leakingNode(41, 212, failing(message)), runbooks)).toMatchObject({ cause: 'ipam-leak' })
  })

  test('what happened an hour ago is not happening now', () => {
    const old = failing('failed to find plugin "x" in path []', { last: now - 60 * minute })
    expect(diagnose(leakingNode(10, 0, old), [])).toMatchObject({ cause: 'nothing-found' })
  })

  test('P-P5: a node under pressure is said to be, although it has addresses left and no event', () => {
    const node = leakingNode(10, 0)
    const conditions = [
      { type: 'Ready', status: 'True', reason: 'KubeletReady', message: '' },
      { type: 'DiskPressure', status: 'True', reason: 'KubeletHasDiskPressure', message: '' },
    ]
    const facts = isKnown(node.facts) ? known({ ...node.facts.value, conditions }, now) : node.facts
    expect(diagnose({ ...node, facts }, runbooks)).toMatchObject({ cause: 'node-pressure', runbooks: [] })
  })

  test('a node that is not Ready', () => {
    const node = leakingNode(10, 0)
    const conditions = [
      { type: 'Ready', status: 'False', reason: 'KubeletNotReady', message: 'PLEG is not healthy' },
    ]
    const facts = isKnown(node.facts) ? known({ ...node.facts.value, conditions }, now) : node.facts
    expect(diagnose({ ...node, facts }, [])).toMatchObject({ cause: 'node-not-ready' })
  })
})

describe('silence is not zero', () => {
  test('a silent runtime: nothing is called leaked, no repair is offered', () => {
    const verdict = diagnose(leakingNode(41, 212, { sandboxes: silent }), runbooks)
    expect(verdict).toMatchObject({ cause: 'runtime-error', runbooks: [], escalateTo: 'platform' })
    expect(verdict.findings.map(finding => finding.name)).toEqual(['runtime-silent', 'not-measured'])
    expect(verdict.doNot.join(' ')).toMatch(/every one of them looks leaked/)
  })

  test('an empty list while Pods run there is a silent runtime', () => {
    expect(names(leakingNode(41, 212, { sandboxes: known([], now) }))).toContain('runtime-silent')
  })

  test('a runtime that was down minutes ago and answers now is not silent', () => {
    const message = 'rpc error: code = Unavailable desc = connect: connection refused'
    expect(names(leakingNode(41, 212, failing(message, { last: now - 5 * minute })))).not.toContain(
      'runtime-silent',
    )
  })

  test('a node that was never reached', () => {
    const verdict = diagnose({ ...bundleWithoutAnswers('node-07', now), ...failing(exhausted) }, runbooks)
    expect(verdict).toMatchObject({
      cause: 'node-unreachable',
      sure: 'low',
      runbooks: [],
      escalateTo: 'platform',
    })
    expect(verdict.says.join(' ')).toMatch(/whether by a leak is not known/)
  })

  test('a store that could not be read is not an empty one', () => {
    expect(diagnose(leakingNode(10, 0, { stores: unknown('ls: permission denied', now) }), [])).toMatchObject(
      {
        cause: 'unknown',
        sure: 'low',
        says: expect.arrayContaining(['ls: permission denied']),
      },
    )
  })

  test('a conflist that is not JSON', () => {
    const verdict = diagnose(leakingNode(10, 0, { conflist: unknown('10-x.conflist is not JSON', now) }), [])
    expect(verdict.findings.map(finding => finding.name)).toContain('config-invalid')
    expect(verdict).toMatchObject({ cause: 'cni-config-wrong' })
  })

  test('the range is full by the message although the store could not be read', () => {
    const verdict = diagnose(leakingNode(10, 0, { stores: silent, ...failing(exhausted) }), [])
    expect(verdict.findings.map(finding => finding.name)).toContain('range-exhausted')
    expect(verdict.says.join(' ')).toMatch(/Whether they are leaked is not known/)
  })

  test('C7: a healthy node, short', () => {
    expect(diagnose(leakingNode(52, 0), runbooks)).toMatchObject({
      cause: 'nothing-found',
      sure: 'high',
      headline: 'node-07 can give new Pods an address',
      says: ['52 of 253 addresses taken, none without a sandbox.'],
      findings: [{ name: 'nothing-found' }],
      hypotheses: [],
      doNot: [],
      runbooks: [],
      escalateTo: undefined,
    })
  })

  test('a real cluster, healthy and repaired', () => {
    expect(diagnose(realCapture('1-healthy'), []).cause).toBe('nothing-found')
    expect(diagnose(realCapture('7-repaired'), []).cause).toBe('nothing-found')
  })
})
