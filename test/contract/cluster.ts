import { testPodLabel } from '../../src/core/incident/symptom.js'
import { type Cluster, Refused } from '../../src/ports.js'
import type { TestPodSpec } from '../../src/core/requests.js'

/** Puts things into the cluster behind the port. Answers uids. */
export interface ClusterWorld {
  cluster: Cluster
  addNode(name: string, cordon?: { by?: string }): Promise<string>
  /** Somebody with kubectl, who knows nothing of our annotation. */
  byHand(name: string, unschedulable: boolean): Promise<void>
  addPod(pod: {
    namespace: string
    name: string
    node?: string
    labels?: Record<string, string>
    owner?: { kind: string; name: string; uid: string }
  }): Promise<string>
  /** A ReplicaSet of a Deployment, a Job of a CronJob, or one that nobody owns. */
  addOwner(kind: 'ReplicaSet' | 'Job', name: string, of?: { kind: string; name: string }): Promise<string>
  addDaemonSet(name: string, desired: number, available: number): Promise<string>
  addSandboxFailure(event: { pod: string; podUid: string; node: string; count: number }): Promise<void>
  addPodEvent(event: { pod: string; uid: string; at: number; reason: string; message: string }): Promise<void>
}

export const clusterContract = (start: () => Promise<ClusterWorld>): void => {
  let world: ClusterWorld
  let cluster: Cluster
  beforeEach(async () => {
    world = await start()
    cluster = world.cluster
  })
  const testPod = (over: Partial<TestPodSpec> = {}): TestPodSpec => ({
    namespace: 'cnibot',
    name: 'test-pod-1',
    image: 'registry.k8s.io/pause:3.10',
    node: 'node-07',
    via: 'pinned',
    taints: [],
    labels: { 'cnibot.io/run': 'r1' },
    annotations: { 'cnibot.io/incident': 'node-07.1' },
    ...over,
  })

  describe('reading', () => {
    test('nodes, one and all; an unknown one is none', async () => {
      const uid = await world.addNode('node-07')
      await world.addNode('node-08')
      expect(await cluster.node('node-07')).toMatchObject({ name: 'node-07', uid, unschedulable: false })
      expect(await cluster.node('node-99')).toBeUndefined()
      expect((await cluster.nodes()).map(({ name }) => name)).toEqual(['node-07', 'node-08'])
    })

    test('Pods on a node, by name, and of a controller', async () => {
      await world.addNode('node-07')
      const owner = { kind: 'StatefulSet', name: 'db', uid: 'ss-1' }
      const uid = await world.addPod({ namespace: 'payments', name: 'db-0', node: 'node-07', owner })
      await world.addPod({ namespace: 'payments', name: 'db-1', node: 'node-08', owner })
      await world.addPod({ namespace: 'search', name: 'loose' })
      expect((await cluster.podsOnNode('node-07')).map(pod => pod.name)).toEqual(['db-0'])
      expect(await cluster.pod('payments', 'db-0')).toMatchObject({ uid, node: 'node-07', controller: owner })
      expect(await cluster.pod('search', 'db-0')).toBeUndefined()
      expect((await cluster.podsOfController('payments', 'ss-1')).map(pod => pod.name)).toEqual([
        'db-0',
        'db-1',
      ])
      expect(await cluster.podsOfController('search', 'ss-1')).toEqual([])
    })

    test('the workload people know', async () => {
      const rs = await world.addOwner('ReplicaSet', 'api-5d4f', { kind: 'Deployment', name: 'api' })
      const job = await world.addOwner('Job', 'ledger-29400000', { kind: 'CronJob', name: 'ledger' })
      const once = await world.addOwner('Job', 'once')
      const of = (controller: { kind: string; name: string; uid: string } | undefined) =>
        cluster.workloadOf({ namespace: 'payments', name: 'p', controller, labels: {} })
      expect(await of({ kind: 'ReplicaSet', name: 'api-5d4f', uid: rs })).toEqual({
        kind: 'Deployment',
        name: 'api',
      })
      expect(await of({ kind: 'Job', name: 'ledger-29400000', uid: job })).toEqual({
        kind: 'CronJob',
        name: 'ledger',
      })
      expect(await of({ kind: 'Job', name: 'once', uid: once })).toEqual({ kind: 'Job', name: 'once' })
      expect(await of({ kind: 'StatefulSet', name: 'db', uid: 'x' })).toEqual({
        kind: 'StatefulSet',
        name: 'db',
      })
      expect(await of(undefined)).toEqual({ kind: 'Pod', name: 'p' })
    })

    test('P-E1: sandbox failures by node and by Pod', async () => {
      await world.addSandboxFailure({ pod: 'api-1', podUid: 'p1', node: 'node-07', count: 14 })
      await world.addSandboxFailure({ pod: 'api-2', podUid: 'p2', node: 'node-08', count: 1 })
      expect(await cluster.sandboxEvents({ node: 'node-07' })).toMatchObject([
        { pod: 'api-1', podUid: 'p1', count: 14 },
      ])
      const two = await cluster.sandboxEvents({ namespace: 'payments', pod: 'api-2' })
      expect(two).toMatchObject([{ node: 'node-08', count: 1 }])
      expect(await cluster.sandboxEvents({})).toHaveLength(2)
      expect(await cluster.sandboxEvents({ node: 'node-09' })).toEqual([])
    })

    test('C2: rollouts, and those that concern one node', async () => {
      const short = await world.addDaemonSet('exporter', 2, 1)
      const whole = await world.addDaemonSet('agent', 1, 1)
      for (const name of ['node-07', 'node-08']) await world.addNode(name)
      const owner = (name: string, uid: string) => ({ kind: 'DaemonSet', name, uid })
      const uid = await world.addPod({
        namespace: 'platform',
        name: 'exporter-a',
        node: 'node-07',
        owner: owner('exporter', short),
      })
      await world.addPod({
        namespace: 'platform',
        name: 'exporter-b',
        node: 'node-08',
        owner: owner('exporter', short),
        labels: { ready: 'yes' },
      })
      await world.addPod({
        namespace: 'platform',
        name: 'agent-b',
        node: 'node-08',
        owner: owner('agent', whole),
        labels: { ready: 'yes' },
      })
      const missing = [{ node: 'node-07', pod: 'exporter-a', podUid: uid }]
      const of = async (node?: string) =>
        (await cluster.rollouts(node))
          .map(({ name, missing: lacks }) => ({ name, lacks }))
          .sort((a, b) => a.name.localeCompare(b.name))
      expect(await of()).toEqual([
        { name: 'agent', lacks: [] },
        { name: 'exporter', lacks: missing },
      ])
      expect(await of('node-07')).toEqual([{ name: 'exporter', lacks: missing }])
      expect((await of('node-08')).map(({ name }) => name)).toEqual(['agent', 'exporter'])
    })

    test('events of one Pod, newest last', async () => {
      const of = { pod: 'api-1', uid: 'p1' }
      await world.addPodEvent({ ...of, at: 2_000, reason: 'BackOff', message: 'second' })
      await world.addPodEvent({ ...of, at: 1_000, reason: 'Pulling', message: 'first' })
      await world.addPodEvent({ pod: 'api-2', uid: 'p2', at: 1_000, reason: 'Pulling', message: 'other' })
      const events = await cluster.podEvents('payments', 'api-1', 'p1')
      expect(events).toEqual(['Pulling: first', 'BackOff: second'])
      expect(await cluster.podEvents('payments', 'nobody', 'p3')).toEqual([])
    })

    test('events of an earlier Pod of the same name are not its own', async () => {
      const failed = { at: 1_000, reason: 'FailedCreatePodSandBox', message: 'of the first try' }
      await world.addPodEvent({ pod: 'test-pod', uid: 'first', ...failed })
      expect(await cluster.podEvents('payments', 'test-pod', 'second')).toEqual([])
      expect(await cluster.podEvents('payments', 'test-pod', 'first')).toHaveLength(1)
    })
  })

  describe('P-A1, P-A7, B7: the cordon', () => {
    const ours = { unschedulable: true, cordonedBy: 'node-07.1' }
    test('is set with its owner, found again, and lifted', async () => {
      const expectUid = await world.addNode('node-07')
      const before = await cluster.setSchedulable('node-07', { ...ours, expectUid })
      expect(before).toEqual({ wasUnschedulable: false, wasCordonedBy: undefined })
      expect(await cluster.node('node-07')).toMatchObject(ours)
      const again = await cluster.setSchedulable('node-07', { ...ours, expectUid })
      expect(again).toEqual({ wasUnschedulable: true, wasCordonedBy: 'node-07.1' })
      const lift = { unschedulable: false, cordonedBy: undefined, lifts: 'node-07.1', expectUid }
      expect(await cluster.setSchedulable('node-07', lift)).toEqual({
        wasUnschedulable: true,
        wasCordonedBy: 'node-07.1',
      })
      expect(await cluster.node('node-07')).toMatchObject({ unschedulable: false, cordonedBy: undefined })
    })
    test("of somebody else is reported and stays somebody else's", async () => {
      const expectUid = await world.addNode('node-07', {})
      const found = await cluster.setSchedulable('node-07', { ...ours, expectUid })
      expect(found).toEqual({ wasUnschedulable: true, wasCordonedBy: undefined })
      expect(await cluster.node('node-07')).toMatchObject({ unschedulable: true, cordonedBy: undefined })
    })
    test('that somebody lifted and set again is theirs, although our mark was left behind', async () => {
      const expectUid = await world.addNode('node-07')
      await cluster.setSchedulable('node-07', { ...ours, expectUid })
      await world.byHand('node-07', false)
      expect(await cluster.node('node-07')).toMatchObject({ unschedulable: false, cordonedBy: undefined })
      await world.byHand('node-07', true)
      expect(await cluster.node('node-07')).toMatchObject({
        unschedulable: true,
        cordonedBy: undefined,
        cordonedWith: 'kubectl',
      })
      const lift = { unschedulable: false, cordonedBy: undefined, lifts: 'node-07.1', expectUid }
      await expect(cluster.setSchedulable('node-07', lift)).rejects.toThrow(
        'did not uncordon node-07: the cordon is not ours any more, but kubectl',
      )
      expect(await cluster.node('node-07')).toMatchObject({ unschedulable: true })
    })
    test('that somebody lifted can be set by us again, and is ours again', async () => {
      const expectUid = await world.addNode('node-07')
      await cluster.setSchedulable('node-07', { ...ours, expectUid })
      await world.byHand('node-07', false)
      await cluster.setSchedulable('node-07', { ...ours, expectUid })
      expect(await cluster.node('node-07')).toMatchObject(ours)
    })
    test('is refused for a node that is not there or not the same machine', async () => {
      await world.addNode('node-07')
      const change = { ...ours, expectUid: 'of-another-machine' }
      await expect(cluster.setSchedulable('node-07', change)).rejects.toThrow(Refused)
      await expect(cluster.setSchedulable('node-99', change)).rejects.toThrow(Refused)
      expect(await cluster.node('node-07')).toMatchObject({ unschedulable: false, cordonedBy: undefined })
    })
  })

  describe('B3: a change is made by who is in charge', () => {
    const ours = { unschedulable: true, cordonedBy: 'node-07.1' }
    const overtaken = async (): Promise<void> => {
      throw new Error('overtaken')
    }
    test('the guard is asked after reading: what came in between is read again, and not overwritten', async () => {
      const expectUid = await world.addNode('node-07')
      let asked = 0
      await cluster.setSchedulable('node-07', { ...ours, expectUid }, async () => {
        asked += 1
        await world.byHand('node-07', true)
      })
      expect(asked).toBe(1)
      expect(await cluster.node('node-07')).toMatchObject({ unschedulable: true, cordonedBy: undefined })
    })
    test('a guard that throws leaves everything as it is', async () => {
      const expectUid = await world.addNode('node-07')
      const change = cluster.setSchedulable('node-07', { ...ours, expectUid }, overtaken)
      await expect(change).rejects.toThrow('overtaken')
      expect(await cluster.node('node-07')).toMatchObject({ unschedulable: false, cordonedBy: undefined })
      await expect(cluster.createTestPod(testPod(), overtaken)).rejects.toThrow('overtaken')
      expect(await cluster.pod('cnibot', 'test-pod-1')).toBeUndefined()
    })
    test('a Pod that was made too late is deleted again, and one that was there is left alone', async () => {
      await world.addNode('node-07')
      let asked = 0
      const late = async (): Promise<void> => {
        asked += 1
        if (asked === 2) await overtaken()
      }
      await expect(cluster.createTestPod(testPod(), late)).rejects.toThrow('overtaken')
      const left = await cluster.pod('cnibot', 'test-pod-1')
      expect(left === undefined || left.deletedAt !== undefined).toBe(true)
      const { uid } = await cluster.createTestPod(testPod({ name: 'test-pod-2' }))
      asked = 0
      expect((await cluster.createTestPod(testPod({ name: 'test-pod-2' }), late)).uid).toBe(uid)
      expect(asked).toBe(1)
    })
  })

  describe('P-V2: the test Pod', () => {
    test('is made once, labelled, and found again', async () => {
      await world.addNode('node-07')
      const made = await cluster.createTestPod(testPod())
      expect(made.labels).toMatchObject({ 'cnibot.io/run': 'r1', [testPodLabel]: 'true' })
      expect((await cluster.createTestPod(testPod())).uid).toBe(made.uid)
    })
    test('is refused where its name is taken by a Pod of others, or the node is unknown', async () => {
      await world.addNode('node-07')
      await world.addPod({ namespace: 'cnibot', name: 'test-pod-1' })
      await expect(cluster.createTestPod(testPod())).rejects.toThrow(Refused)
      await expect(cluster.createTestPod(testPod({ name: 'b', node: 'node-99' }))).rejects.toThrow(Refused)
    })
    test('is deleted by uid; gone already is fine, another of that name stays', async () => {
      await world.addNode('node-07')
      const { uid } = await cluster.createTestPod(testPod())
      await cluster.deletePod('cnibot', 'test-pod-1', 'of-an-earlier-one')
      expect(await cluster.pod('cnibot', 'test-pod-1')).toMatchObject({ uid, deletedAt: undefined })
      await cluster.deletePod('cnibot', 'test-pod-1', uid)
      const left = await cluster.pod('cnibot', 'test-pod-1')
      expect(left === undefined || left.deletedAt !== undefined).toBe(true)
      await cluster.deletePod('cnibot', 'test-pod-1', uid)
    })
  })
}
