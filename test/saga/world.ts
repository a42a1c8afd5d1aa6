import { createRunbooks } from '../../src/adapters/files/runbooks.js'
import type { PodFacts } from '../../src/core/evidence/bundle.js'
import {
  foldIncident,
  type IncidentEvent,
  type IncidentState,
  incidentStream,
  runStream,
} from '../../src/core/incident/incident.js'
import { foldRun, type RunEvent, type RunState } from '../../src/core/runbook/run.js'
import type { Runbook } from '../../src/core/runbook/schema.js'
import { collectEvidence } from '../../src/flows/collect-evidence.js'
import { decide } from '../../src/flows/decide.js'
import { legalHistory } from '../../src/flows/legal-history.js'
import { openRun } from '../../src/flows/open-run.js'
import { resume } from '../../src/flows/resume.js'
import { runStep } from '../../src/flows/run-step.js'
import type { Cluster, History, Job, Jobs, NodeShell } from '../../src/ports.js'
import type { ButtonValue } from '../../src/view/button.js'
import { fakeCluster, fakeNode, fakePod, fakeRollout } from '../fakes/cluster.js'
import { fakeHistory } from '../fakes/history.js'
import { fakeJobs } from '../fakes/jobs.js'
import { fakeLog } from '../fakes/log.js'
import { FakeNode } from './fake-node.js'

export const node = 'node-07'
export const clusterName = 'prod-eu1'
export const incidentWindowMs = 3 * 86_400_000

/** Everything that a worker reaches; a test puts faults between. */
export interface Ports {
  history: History
  jobs: Jobs
  cluster: Cluster
  shell: NodeShell
}

export interface Worker {
  step: (job: Job & { kind: 'step' }) => Promise<void>
  collect: (job: Job & { kind: 'collect' }) => Promise<void>
  resume: () => Promise<void>
}

export const settings = {
  peers: 0,
  probeTimeoutMs: 1_000,
  probeMaxBytes: 1_000_000,
  testPodNamespace: 'cnibot',
  testPodImage: 'pause',
  deadlineMs: 25,
  lookEveryMs: 1,
  takeOverAfterMs: 1,
  approvalTtlMs: 1_800_000,
  bundleTtlMs: 30 * 86_400_000,
  incidentWindowMs,
  ticketWindowMs: 3 * 86_400_000,
  orphansToOpen: 1,
  measureAgainAfterMs: 30 * 60_000,
  maxNodesUnderRepair: 1,
  escalateTo: '@platform',
  paused: false,
  approvals: { low: 1, medium: 1, high: 1 },
  own: { podNamespace: undefined, podName: undefined, redisHost: 'redis.elsewhere' },
}

export type World = Awaited<ReturnType<typeof startWorld>>

/** Three living Pods, three leaked addresses; the runtime and the kubelet do what the API says, at once. */
const startCluster = (clock: { now(): number }, leaks: number) => {
  const onNode = new FakeNode(clock)
  const old = clock.now() - 20 * 86_400_000
  const cluster = fakeCluster({ nodes: [fakeNode(node, { bootId: onNode.bootId })] })
  const start = (pod: PodFacts): void => {
    const { ip } = onNode.add(pod)
    Object.assign(pod, { node, phase: 'Running', ips: [ip], ready: true, startedAt: clock.now() })
  }
  for (const name of ['api-1', 'api-2', 'api-3']) {
    const controller = { kind: 'ReplicaSet', name: 'api', uid: 'rs-api' }
    const pod = fakePod('payments', name, { controller, createdAt: old })
    start(pod)
    pod.startedAt = old
    cluster.all.pods.push(pod)
  }
  const daemon = { kind: 'DaemonSet', name: 'exporter', uid: 'ds-exporter' }
  const exporter = fakePod('platform', 'exporter-x', { controller: daemon, createdAt: old })
  start(exporter)
  exporter.startedAt = old
  cluster.all.pods.push(exporter)
  cluster.all.rollouts.push(fakeRollout('platform', 'exporter', daemon.uid))
  const startPod = (namespace: string, name: string, ip: string): void => {
    const pod = fakePod(namespace, name, { node, phase: 'Running', ips: [ip], ready: true })
    onNode.add(pod, ip)
    cluster.all.pods.push(pod)
  }
  const leaked = Array.from({ length: leaks }, () => onNode.leak())
  cluster.onTestPod = (pod, { via }) => {
    const facts = cluster.all.nodes[0]
    if (via === 'pinned' || facts?.unschedulable === false) start(pod)
  }
  const evicted: PodFacts[] = []
  cluster.draining.onEvicted = pod =>
    evicted.push(...cluster.all.pods.splice(cluster.all.pods.indexOf(pod), 1))
  /** The kubelet's DELs: a sandbox goes with its Pod. */
  const sync = (): void => {
    const uids = new Set(cluster.all.pods.map(pod => pod.uid))
    for (const { id, podUid } of onNode.sandboxes.values()) if (!uids.has(podUid)) onNode.del(id)
  }
  return { cluster, onNode, leaked, evicted, startPod, sync, shell: onNode.shell(sync) }
}

const shipped = createRunbooks(undefined).list()
export const shippedRunbooks = (): Promise<Runbook[]> => shipped

/** An incident with a run of this runbook just opened; nothing of it has been planned. */
export const startWorld = async (runbook: string, leaks = 3) => {
  const clock = { time: Date.UTC(2026, 10, 18, 11, 31), now: () => (clock.time += 1) }
  const store = fakeHistory(clock)
  const history = legalHistory(store, { incidentWindowMs })
  const jobs = fakeJobs(clock)
  const log = fakeLog()
  const { shell, ...machine } = startCluster(clock, leaks)
  const runbooks = { list: shippedRunbooks }
  const ports: Ports = { history, jobs, cluster: machine.cluster, shell }

  const worker = (reached: Ports = ports, signal = new AbortController().signal): Worker => {
    const deps = { ...reached, clusterName, clock, runbooks, log, settings }
    return {
      step: job => runStep(deps)(job, signal),
      collect: job => collectEvidence(deps)(job, signal),
      resume: resume(deps),
    }
  }
  const incident = async (): Promise<IncidentState> => {
    const { events } = await history.read<IncidentEvent>(incidentStream(node))
    const state = foldIncident(node, events, incidentWindowMs)
    if (!state) throw new Error('no incident')
    return state
  }
  const run = async (): Promise<RunState | undefined> =>
    foldRun((await history.read<RunEvent>(runStream(`${node}.1-r1`))).events)
  const people = { people: ['U1', 'U2'], named: '@sre-oncall', selfApproval: true }
  const deciding = {
    clusterName,
    history,
    jobs,
    clock,
    runbooks,
    log,
    settings,
    approvers: async () => people,
  }
  const click = async (value: Partial<ButtonValue> & Pick<ButtonValue, 'action'>): Promise<string> =>
    decide(deciding)({
      by: 'U1',
      value: { cluster: clusterName, incident: `${node}.1`, run: `${node}.1-r1`, ...value },
      reason: undefined,
    })

  const at = clock.now()
  await history.append<IncidentEvent>(incidentStream(node), 0, [
    { at, by: 'cnibot', type: 'EvidenceWanted', why: 'a test' },
  ])
  await worker().collect({ kind: 'collect', node, length: 1 })
  const collected = await history.read<IncidentEvent>(incidentStream(node))
  // A repair is chosen on the card that shows both.
  const unread = { unknown: 'not looked at in this test' }
  const comparison = { readAt: clock.now(), addresses: unread, pods: unread, past: {} }
  await history.append<IncidentEvent>(incidentStream(node), collected.length, [
    { at: clock.now(), by: 'cnibot', type: 'RepairsCompared', comparison },
  ])
  const answer = await openRun(deciding)({ node, incident: `${node}.1`, runbook, by: 'U1' })
  if (answer !== '') throw new Error(`the run was not opened: ${answer}`)
  return { clock, history, jobs, log, ports, worker, incident, run, click, ...machine }
}
