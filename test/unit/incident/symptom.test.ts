import {
  type PodEvents,
  readSymptom,
  type WatchedPod,
  watchedFromFacts,
  workloadFromPod,
} from '../../../src/core/incident/symptom.js'
import { minute, now, pod } from '../leaking-node.js'

const thresholds = { stuckAfterMs: 5 * minute }
const exhausted =
  'Failed to create pod sandbox: plugin type="bridge" failed (add): failed to allocate for range 0: no IP addresses available in range set: 10.244.7.1-10.244.7.254'

const watched = (over: Partial<WatchedPod> = {}): WatchedPod => ({
  namespace: 'payments',
  name: 'api-55447db4fc-x2k8q',
  uid: 'uid-1',
  node: 'node-07',
  phase: 'Pending',
  hostNetwork: false,
  controller: { kind: 'ReplicaSet', name: 'api-55447db4fc', uid: 'rs' },
  templateHash: '55447db4fc',
  testPod: false,
  createdAt: now - 21 * minute,
  scheduledAt: now - 20 * minute,
  deletedAt: undefined,
  waiting: [],
  statusesMissing: false,
  sandboxReady: undefined,
  sandboxReadyChangedAt: undefined,
  ...over,
})
const sandboxEvents = (message: string, over = {}): PodEvents => ({
  sandbox: {
    namespace: 'payments',
    pod: 'api',
    podUid: 'uid-1',
    node: 'node-07',
    count: 14,
    first: now - 20 * minute,
    last: now - 10_000,
    message,
    folded: true,
    ...over,
  },
  others: [],
})
const none: PodEvents = { sandbox: undefined, others: [] }
const read = (over: Partial<WatchedPod>, events: PodEvents = none) =>
  readSymptom(watched(over), events, now, thresholds)

const creating = [{ reason: 'ContainerCreating', init: false }]
const timeless = 'rpc error: failed to reserve something'

describe('C1: a Pod that waits for its sandbox', () => {
  test.each<[string, Partial<WatchedPod>, PodEvents]>([
    ['waiting reason ContainerCreating', { waiting: creating }, none],
    ['waiting reason PodInitializing', { waiting: [{ reason: 'PodInitializing', init: false }] }, none],
    ['only an init container waits', { waiting: [{ reason: 'ContainerCreating', init: true }] }, none],
    ['no container statuses at all', { statusesMissing: true }, none],
    ['PodReadyToStartContainers=False, Pending', { sandboxReady: false, waiting: creating }, none],
    [
      'PodReadyToStartContainers=False while Running, after a restart on a full range',
      { phase: 'Running', sandboxReady: false, sandboxReadyChangedAt: now - 20 * minute },
      none,
    ],
    [
      'Running on a kubelet without that condition: only the events tell',
      { phase: 'Running' },
      sandboxEvents('failed to find plugin "portmap" in path [/usr/lib/cni]'),
    ],
  ])('%s: stuck since it was placed', (_name, over, events) => {
    expect(read(over, events)).toMatchObject({
      kind: 'stuck',
      symptom: {
        kind: 'stuck-sandbox',
        node: 'node-07',
        workload: { namespace: 'payments', kind: 'Deployment', name: 'api' },
        podUid: 'uid-1',
        since: now - 20 * minute,
        exhausted: false,
      },
    })
  })

  test('younger than the threshold: it is looked at again when it is due', () => {
    const scheduledAt = now - 4 * minute
    expect(read({ waiting: creating, scheduledAt })).toEqual({
      kind: 'waiting',
      since: scheduledAt,
      dueAt: now + minute,
    })
  })

  test('exactly at the threshold it counts', () => {
    expect(read({ waiting: creating, scheduledAt: now - 5 * minute }).kind).toBe('stuck')
  })

  test('the exhaustion message counts at once, with the message', () => {
    expect(read({ waiting: creating, scheduledAt: now - 10_000 }, sandboxEvents(exhausted))).toMatchObject({
      kind: 'stuck',
      symptom: { exhausted: true, message: exhausted, since: now - 10_000 },
    })
  })

  test('the exhaustion message wins over a waiting reason that says something else', () => {
    const waiting = [{ reason: 'CreateContainerError', init: false }]
    expect(read({ sandboxReady: false, waiting }, sandboxEvents(exhausted)).kind).toBe('stuck')
  })

  test('a Running Pod counts from when it lost its sandbox, not from its start weeks ago', () => {
    const lost = { phase: 'Running', sandboxReady: false, sandboxReadyChangedAt: now - minute }
    expect(read({ ...lost, scheduledAt: now - 20_000 * minute })).toMatchObject({
      kind: 'waiting',
      since: now - minute,
    })
  })
})

describe('C1: not a symptom', () => {
  test.each<[string, Partial<WatchedPod>, PodEvents]>([
    ['finished: Succeeded has the condition False too', { phase: 'Succeeded', sandboxReady: false }, none],
    ['finished: Failed', { phase: 'Failed', sandboxReady: false }, none],
    ['going away', { deletedAt: now, waiting: creating }, sandboxEvents(exhausted)],
    ["the bot's own test Pod", { testPod: true, waiting: creating }, sandboxEvents(exhausted)],
    ['running with a sandbox', { phase: 'Running', sandboxReady: true }, none],
    [
      'running with a sandbox again after failures',
      { phase: 'Running', sandboxReady: true },
      sandboxEvents(exhausted),
    ],
    [
      'running on an old kubelet, failures long over',
      { phase: 'Running' },
      sandboxEvents(timeless, { last: now - 30 * minute }),
    ],
    [
      'events of an earlier Pod of that name',
      { phase: 'Running' },
      sandboxEvents(timeless, { podUid: 'uid-0' }),
    ],
  ])('%s: fine', (_name, over, events) => {
    expect(read(over, events)).toEqual({ kind: 'fine' })
  })

  test.each<[string, Partial<WatchedPod>, PodEvents, RegExp]>([
    ['not scheduled', { node: undefined, waiting: creating }, none, /not scheduled/],
    [
      'image',
      { sandboxReady: true, waiting: [{ reason: 'ImagePullBackOff', init: false }] },
      none,
      /ImagePullBackOff/,
    ],
    [
      'image, on an old kubelet',
      { waiting: [{ reason: 'ErrImagePull', init: true }, ...creating] },
      none,
      /ErrImagePull/,
    ],
    [
      'volume',
      { waiting: creating },
      { sandbox: undefined, others: ['FailedMount: MountVolume.SetUp failed for "data"'] },
      /FailedMount/,
    ],
    [
      'volume attach',
      { waiting: creating },
      { sandbox: undefined, others: ['FailedAttachVolume: timed out'] },
      /FailedAttachVolume/,
    ],
    ['host network needs no address', { hostNetwork: true, waiting: creating }, none, /host network/],
    [
      'sandbox image',
      { waiting: creating },
      sandboxEvents('failed to get sandbox image "registry.example/pause:3.6"'),
      /image cannot be pulled/,
    ],
  ])('%s: told apart', (_name, over, events, reason) => {
    const reading = read(over, events)
    expect(reading.kind).toBe('other')
    expect(reading.kind === 'other' && reading.reason).toMatch(reason)
  })

  test('other events do not hide sandbox failures', () => {
    const events = { ...sandboxEvents(exhausted), others: ['FailedMount: once'] }
    expect(read({ waiting: creating }, events).kind).toBe('stuck')
  })
})

describe('the workload as people name it', () => {
  test.each([
    [{ kind: 'ReplicaSet', name: 'api-55447db4fc' }, '55447db4fc', 'Deployment', 'api'],
    [{ kind: 'ReplicaSet', name: 'bare' }, undefined, 'ReplicaSet', 'bare'],
    [{ kind: 'Job', name: 'nightly-ledger-29311745' }, undefined, 'CronJob', 'nightly-ledger'],
    [{ kind: 'Job', name: 'settle' }, undefined, 'Job', 'settle'],
    [{ kind: 'DaemonSet', name: 'log-shipper' }, undefined, 'DaemonSet', 'log-shipper'],
  ])('%j, template hash %s: %s %s', (controller, templateHash, kind, name) => {
    const one = watched({ controller: { ...controller, uid: 'x' }, templateHash })
    expect(workloadFromPod(one)).toEqual({ namespace: 'payments', kind, name })
  })

  test('a Pod without a controller is its own', () => {
    expect(workloadFromPod(watched({ controller: undefined })).kind).toBe('Pod')
  })
})

test('C1: a victim outside the watch is read from the API the same way', () => {
  const facts = pod(7, { sandboxReady: false, labels: { 'pod-template-hash': '55447db4fc' } })
  const reading = readSymptom(
    watchedFromFacts(facts),
    sandboxEvents(exhausted, { podUid: facts.uid }),
    now,
    thresholds,
  )
  expect(reading).toMatchObject({
    kind: 'stuck',
    symptom: { workload: { kind: 'Deployment', name: 'api' }, exhausted: true },
  })
  expect(watchedFromFacts(pod(8, { labels: { 'cnibot.io/test-pod': 'run-1' } })).testPod).toBe(true)
})
