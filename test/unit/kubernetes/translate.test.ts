import { readFileSync } from 'node:fs'
import { nodeFacts, podFacts, watchedPod } from '../../../src/adapters/kubernetes/translate.js'
import { millis } from '../../../src/adapters/kubernetes/wire.js'
import { readSymptom, type WatchedPod } from '../../../src/core/incident/symptom.js'
import { captured, podNamed } from './captured.js'

const at = (time: string): number => Date.parse(time)
const read = (pod: WatchedPod, now: number) =>
  readSymptom(pod, { sandbox: undefined, others: [] }, now, { stuckAfterMs: 300_000 })

describe('times', () => {
  test('a Date of a typed call and the string of raw JSON are the same moment', () => {
    expect(millis(new Date('2026-11-30T15:25:28Z'))).toBe(millis('2026-11-30T15:25:28Z'))
    expect(millis('2026-11-30T15:25:28.123456Z')).toBe(at('2026-11-30T15:25:28.123Z'))
  })
  test('a missing or unreadable time is none, not 1970', () => {
    expect([millis(undefined), millis(null), millis('soon')]).toEqual([undefined, undefined, undefined])
  })
})

describe('nodes', () => {
  test('P-E2, P-E8: conditions, maxPods, address, boot id and versions of a captured node', () => {
    const node = captured
      .nodes()
      .map(nodeFacts)
      .find(({ name }) => name === 'node-07')
    expect(node).toMatchObject({
      uid: '458133dc-cc0a-4a22-ab76-f4a2980b2ad7',
      maxPods: expect.any(Number),
      unschedulable: false,
      cordonedBy: undefined,
      createdAt: at('2026-11-30T15:15:28Z'),
    })
    expect(node?.maxPods).toBeGreaterThan(0)
    expect(node?.runtimeVersion).toMatch(/^containerd:\/\//)
    expect(node?.bootId).toMatch(/^[0-9a-f-]{36}$/)
    expect(node?.internalIp).toMatch(/^\d+\.\d+\.\d+\.\d+$/)
    expect(node?.podCidrs).toEqual(expect.arrayContaining([expect.stringContaining('/')]))
    expect(node?.conditions.find(({ type }) => type === 'Ready')).toMatchObject({ status: 'True' })
  })
  test('B7: a cordon by hand on a real node is said to be of kubectl', () => {
    const text = readFileSync(new URL('../../fixtures/cordon-by-hand/node.json', import.meta.url), 'utf8')
    const node = nodeFacts(JSON.parse(text) as Parameters<typeof nodeFacts>[0])
    expect(node).toMatchObject({ unschedulable: true, cordonedBy: undefined, cordonedWith: 'kubectl' })
  })
  test('B7: whose cordon it is, by the field’s manager and our mark, and taints', () => {
    const node = nodeFacts({
      metadata: {
        name: 'n',
        annotations: { 'cnibot.io/cordoned-by': 'node-07.1' },
        managedFields: [
          { manager: 'kubelet', fieldsV1: { 'f:metadata': { 'f:labels': {} } } },
          { manager: 'cnibot', fieldsV1: { 'f:spec': { 'f:unschedulable': {} } } },
        ],
      },
      spec: {
        unschedulable: true,
        taints: [{ key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' }],
      },
    })
    expect(node).toMatchObject({
      unschedulable: true,
      cordonedBy: 'node-07.1',
      internalIp: undefined,
      bootId: '',
    })
    expect(node.taints).toEqual([{ key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' }])
  })
})

describe('Pods', () => {
  test('a running Pod: address, controller, when it was placed and when its container began', () => {
    const pod = podFacts(podNamed('kube-exhausted', 'checkout'))
    expect(pod).toMatchObject({ phase: 'Running', ready: true, sandboxReady: true, node: 'node-07' })
    expect(pod.controller).toMatchObject({ kind: 'ReplicaSet', name: 'checkout-85769cfbf8' })
    expect(pod.ips).toHaveLength(1)
    expect(pod.ips[0]).toMatch(/^10\.244\.7\./)
    expect(pod.startedAt).toBeGreaterThanOrEqual(pod.scheduledAt ?? Number.POSITIVE_INFINITY)
  })
  test('mirror and host-network Pods are told apart', () => {
    const pods = captured.pods('kube-exhausted').map(podFacts)
    const stuck = podFacts(podNamed('kube-exhausted', 'reports'))
    expect(stuck).toMatchObject({ mirror: false, hostNetwork: false, ips: [], startedAt: undefined })
    for (const pod of pods.filter(({ hostNetwork }) => hostNetwork))
      expect(pod.ips[0]).not.toMatch(/^10\.244\./)
    expect(podFacts({ metadata: { annotations: { 'kubernetes.io/config.mirror': 'x' } } }).mirror).toBe(true)
  })
  test('deletion counts from when it was asked for, not from the end of the grace period', () => {
    const pod = podFacts({
      metadata: { deletionTimestamp: '2026-11-30T15:00:30Z', deletionGracePeriodSeconds: 30 },
    })
    expect(pod.deletedAt).toBe(at('2026-11-30T15:00:00Z'))
  })
})

describe('C1: what the watch keeps shows every form of a stuck Pod', () => {
  const stuck = ['log-shipper-q29hj', 'reports-fc5fc9789-rzjmv', 'settle-b4pt2']
  test.each(stuck)('captured %s waits in ContainerCreating', name => {
    const pod = watchedPod(podNamed('kube-exhausted', name))
    expect(pod).toMatchObject({ phase: 'Pending', sandboxReady: false, node: 'node-07', testPod: false })
    expect(pod.waiting).toEqual([{ reason: 'ContainerCreating', init: false }])
    expect(read(pod, (pod.scheduledAt ?? 0) + 299_999).kind).toBe('waiting')
    expect(read(pod, (pod.scheduledAt ?? 0) + 300_000).kind).toBe('stuck')
  })
  test('captured victims after a reboot are Running and have no sandbox', () => {
    const victims = captured.pods('kube-reboot-victims').map(watchedPod)
    const kinds = victims.map(pod => [pod.name, pod.phase, read(pod, at('2026-11-30T16:30:00Z')).kind])
    expect(kinds).toEqual(
      expect.arrayContaining([
        ['checkout-85769cfbf8-5rkqk', 'Running', 'stuck'],
        ['checkout-85769cfbf8-69jsm', 'Running', 'stuck'],
        ['checkout-85769cfbf8-kfqnf', 'Running', 'stuck'],
        // Finished Pods have PodReadyToStartContainers=False as well.
        ['settle-jwvlz', 'Succeeded', 'fine'],
      ]),
    )
  })
  test('init containers waiting, and no status at all', () => {
    const spec = { nodeName: 'n', containers: [] }
    const placed = { type: 'PodScheduled', status: 'True', lastTransitionTime: '2026-11-30T15:00:00Z' }
    const waiting = {
      name: 'c',
      image: '',
      imageID: '',
      ready: false,
      restartCount: 0,
      state: { waiting: { reason: 'PodInitializing' } },
    }
    const init = watchedPod({
      spec,
      status: {
        phase: 'Pending',
        conditions: [placed],
        initContainerStatuses: [waiting],
        containerStatuses: [waiting],
      },
    })
    expect(init.waiting).toEqual([
      { reason: 'PodInitializing', init: true },
      { reason: 'PodInitializing', init: false },
    ])
    const bare = watchedPod({ spec, status: { phase: 'Pending', conditions: [placed] } })
    expect(bare).toMatchObject({
      statusesMissing: true,
      sandboxReady: undefined,
      scheduledAt: at('2026-11-30T15:00:00Z'),
    })
    const unplaced = watchedPod({
      spec: { containers: [] },
      status: { phase: 'Pending', conditions: [{ ...placed, status: 'False' }] },
    })
    expect(unplaced).toMatchObject({ node: undefined, scheduledAt: undefined })
  })
  test('Kubernetes 1.28 names the condition PodHasNetwork', () => {
    const pod = watchedPod({ status: { conditions: [{ type: 'PodHasNetwork', status: 'False' }] } })
    expect(pod.sandboxReady).toBe(false)
  })
  test('the record is small: no more than 600 bytes of a real Pod of thousands', () => {
    for (const pod of captured.pods('kube-exhausted'))
      expect(JSON.stringify(watchedPod(pod)).length).toBeLessThan(600)
  })
  test('the own test Pod is marked by its label', () => {
    expect(watchedPod({ metadata: { labels: { 'cnibot.io/test-pod': 'true' } } }).testPod).toBe(true)
  })
})
