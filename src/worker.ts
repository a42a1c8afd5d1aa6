import { createRunbooks } from './adapters/files/runbooks.js'
import { createCluster } from './adapters/kubernetes/cluster.js'
import { connectKube } from './adapters/kubernetes/connect.js'
import { type JobHandlers, startWorker } from './adapters/redis/job-worker.js'
import { createNodeShell } from './adapters/ssh/node-shell.js'
import type { Settings } from './config.js'
import type { RunState } from './core/runbook/run.js'
import { countedHistory } from './counted-history.js'
import { answerRequest } from './flows/answer-request.js'
import { heldBack, stopped } from './flows/brakes.js'
import { type CollectDeps, collectEvidence } from './flows/collect-evidence.js'
import { type CompareDeps, compareRepairs } from './flows/compare-repairs.js'
import { recount } from './flows/recount.js'
import { resume } from './flows/resume.js'
import { runStep } from './flows/run-step.js'
import type { RunStepDeps } from './flows/step-events.js'
import { probeLimits, sshSettingsOf } from './ssh-settings.js'
import { closeWorker, every, measureAgainAfterMs, serve, startUp } from './start-up.js'

const stepLimits = { deadlineMs: 120_000, lookEveryMs: 2_000 }

const limitsOf = (settings: Settings<'worker'>) => ({
  ...probeLimits,
  ...stepLimits,
  peers: settings.peers,
  testPodNamespace: settings.testPodNamespace,
  own: {
    podNamespace: settings.podNamespace,
    podName: settings.podName,
    redisHost: new URL(settings.redisUrl).hostname.replace(/^\[|\]$/g, ''),
  },
  testPodImage: settings.testPodImage,
  approvalTtlMs: settings.approvalTtl,
  approvals: {
    low: settings.approvalsLow,
    medium: settings.approvalsMedium,
    high: settings.approvalsHigh,
  },
  paused: settings.paused,
  bundleTtlMs: settings.bundleTtl,
  incidentWindowMs: settings.incidentWindow,
  ticketWindowMs: settings.ticketWindow,
  orphansToOpen: 1,
  measureAgainAfterMs,
})

const handlersOf = (deps: CollectDeps & RunStepDeps & CompareDeps): JobHandlers => ({
  collect: (job, { signal }) => collectEvidence(deps)(job, signal),
  step: (job, { signal }) => runStep(deps)(job, signal),
  recount: (job, { signal }) => recount(deps)(job, signal),
  answer: (job, { signal }) => answerRequest(deps)(job, signal),
  compare: (job, { signal }) => compareRepairs(deps)(job, signal),
})

/** Reaches nodes and changes the cluster, one approved step at a time; it has no Slack token. Ends with the process. */
export const runWorker = async (): Promise<void> => {
  const { settings, log, clock, queue, jobs, metrics, ...store } = await startUp('worker')
  const runbooks = createRunbooks(settings.runbooksDir)
  await runbooks.list()
  const kube = connectKube({ kubeconfig: settings.kubeconfig, context: settings.kubeContext })
  const shell = createNodeShell(sshSettingsOf(settings))
  const deps = {
    clusterName: settings.cluster,
    cluster: createCluster(kube, clock),
    shell,
    clock,
    history: countedHistory(store.history, metrics, log),
    jobs,
    runbooks,
    log,
    settings: limitsOf(settings),
    mayAct: (state: RunState, index: number) => heldBack(deps, state, index),
    stopped: (node: string) => stopped(deps, node),
  }
  const worker = startWorker({ ...queue, handlers: handlersOf(deps) })
  await worker.ready()
  const resuming = every(settings.resumeEvery, log, 'resume', resume(deps))
  await serve({
    log,
    http: { host: settings.httpHost, port: settings.httpPort },
    notReady: () => [],
    metrics,
    stops: [
      closeWorker(worker),
      () => resuming.stop(),
      () => store.telling.stop(),
      () => shell.close(),
      () => kube.close(),
      () => jobs.close(),
      () => store.history.close(),
    ],
  })
}
