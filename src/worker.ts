import { createRunbooks } from './adapters/files/runbooks.js'
import { createCluster } from './adapters/kubernetes/cluster.js'
import { connectKube } from './adapters/kubernetes/connect.js'
import { startWorker } from './adapters/redis/job-worker.js'
import { createNodeShell } from './adapters/ssh/node-shell.js'
import { answerRequest } from './flows/answer-request.js'
import { collectEvidence } from './flows/collect-evidence.js'
import { recount } from './flows/recount.js'
import { resume } from './flows/resume.js'
import { runStep } from './flows/run-step.js'
import { sshSettingsOf } from './ssh-settings.js'
import { closeWorker, every, measureAgainAfterMs, serve, startUp } from './start-up.js'

const probe = { probeTimeoutMs: 60_000, probeMaxBytes: 64 * 1024 * 1024 }
const steps = { deadlineMs: 120_000, lookEveryMs: 2_000 }

/** Reaches nodes and changes the cluster, one approved step at a time; it has no Slack token. Ends with the process. */
export const runWorker = async (): Promise<void> => {
  const { settings, log, clock, store, onError, history, jobs } = await startUp('worker')
  const runbooks = createRunbooks(settings.runbooksDir)
  await runbooks.list()
  const kube = connectKube({ kubeconfig: settings.kubeconfig, context: settings.kubeContext })
  const shell = createNodeShell(sshSettingsOf(settings))
  const deps = {
    clusterName: settings.cluster,
    cluster: createCluster(kube, clock),
    shell,
    clock,
    history,
    jobs,
    runbooks,
    log,
    settings: {
      ...probe,
      ...steps,
      peers: settings.peers,
      testPodNamespace: settings.testPodNamespace,
      testPodImage: settings.testPodImage,
      approvalTtlMs: settings.approvalTtl,
      bundleTtlMs: settings.bundleTtl,
      incidentWindowMs: settings.incidentWindow,
      ticketWindowMs: settings.ticketWindow,
      orphansToOpen: 1,
      measureAgainAfterMs,
    },
  }
  const worker = startWorker({
    ...store,
    queue: 'worker',
    concurrency: settings.concurrency,
    lockMs: settings.jobLock,
    onError,
    onGivenUp: (job, error) =>
      log.error({ job: job.kind }, `given up, resume will ask again: ${error.message}`),
    handlers: {
      collect: (job, { signal }) => collectEvidence(deps)(job, signal),
      step: (job, { signal }) => runStep(deps)(job, signal),
      recount: (job, { signal }) => recount(deps)(job, signal),
      answer: (job, { signal }) => answerRequest(deps)(job, signal),
    },
  })
  await worker.ready()
  const resuming = every(settings.resumeEvery, log, 'resume', resume(deps))
  await serve({
    log,
    http: { host: settings.httpHost, port: settings.httpPort },
    notReady: () => [],
    metrics: { queues: async () => ({ worker: { ...(await jobs.depth('worker')) } }) },
    stops: [
      closeWorker(worker),
      resuming.stop,
      () => shell.close(),
      () => kube.close(),
      () => jobs.close(),
      () => history.close(),
    ],
  })
}
