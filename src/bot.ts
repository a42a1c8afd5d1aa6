import { createRunbooks } from './adapters/files/runbooks.js'
import { createCluster } from './adapters/kubernetes/cluster.js'
import { connectKube } from './adapters/kubernetes/connect.js'
import { startSymptomWatch } from './adapters/kubernetes/symptoms.js'
import { isUnfinished } from './adapters/kubernetes/tracked.js'
import type { RedisHistory } from './adapters/redis/history.js'
import { startWorker } from './adapters/redis/job-worker.js'
import { type SlackClick, type SlackCommand, startSlack } from './adapters/slack/app.js'
import { openApprovers } from './adapters/slack/approvers.js'
import { openThread } from './adapters/slack/thread.js'
import { foldIncident, type IncidentEvent, incidentStream, threadStream } from './core/incident/incident.js'
import { type Ticket, ticketId } from './core/incident/ticket.js'
import { answerCommand } from './flows/answer-command.js'
import { publishAnswer } from './flows/answer-request.js'
import { decide } from './flows/decide.js'
import { foldThread, publishThread, type ThreadEvent } from './flows/publish-thread.js'
import { reportGone, reportSymptom } from './flows/report-symptom.js'
import { resume } from './flows/resume.js'
import { closeWorker, every, measureAgainAfterMs, serve, startUp } from './start-up.js'
import { decodeButton } from './view/button.js'
import { sentence } from './view/command.js'

const tickMs = 1_000
const watchSilentMs = 180_000

/** Those without an end, and those whose replacement may still start: what became of them is found out at the start. */
const openTickets = async (history: RedisHistory, windowMs: number): Promise<Ticket[]> => {
  const streams = await history.streams(incidentStream(''))
  const tickets = await Promise.all(
    streams.map(async stream => {
      const { events } = await history.read<IncidentEvent>(stream)
      return foldIncident(stream.slice(incidentStream('').length), events, windowMs)?.tickets ?? []
    }),
  )
  return tickets.flat().filter(isUnfinished)
}

/** Watches the cluster and speaks Slack; it cannot reach a node and changes nothing. Ends with the process. */
export const runBot = async (): Promise<void> => {
  const { settings, log, clock, store, onError, history, jobs } = await startUp('bot')
  const clusterName = settings.cluster
  const runbooks = createRunbooks(settings.runbooksDir)
  await runbooks.list()
  const kube = connectKube({ kubeconfig: settings.kubeconfig, context: settings.kubeContext })
  const cluster = createCluster(kube, clock)
  const access = { botToken: settings.slackBotToken, apiUrl: settings.slackApiUrl, log }
  const approvers = openApprovers(access, { users: settings.approvers, groups: settings.approverGroups })
  const thread = openThread(access)
  const deps = {
    clusterName,
    cluster,
    history,
    jobs,
    runbooks,
    thread,
    clock,
    log,
    approversNamed: approvers.named,
    approvers: async () => ({
      people: await approvers.people('onClick'),
      named: approvers.named,
      selfApproval: settings.selfApproval,
    }),
    linkTo: async (incident: string) => {
      const { events } = await history.read<ThreadEvent>(threadStream(incident))
      const head = foldThread(events).get('head')
      return head && thread.permalink(head.channel, head.ts)
    },
    settings: {
      channel: settings.slackChannel,
      timeZone: settings.timeZone,
      incidentWindowMs: settings.incidentWindow,
      maxNodesUnderRepair: settings.maxNodesUnderRepair,
      escalateTo: settings.escalateTo ?? 'platform',
      measureAgainAfterMs,
    },
  }
  const onClick = async (click: SlackClick) => {
    const value = decodeButton(click.value)
    if (!value || value.action !== click.action)
      return sentence('This button is none of mine; nothing was done.')
    const answer = await decide(deps)({ by: click.user, value, reason: click.inputs.reason })
    return answer === '' ? undefined : sentence(answer)
  }
  const onCommand = async ({ text, user, channel, triggerId }: SlackCommand) => ({
    message: await answerCommand(deps)({ text, by: user, channel, id: triggerId }),
  })
  const slack = await startSlack({
    ...access,
    appToken: settings.slackAppToken,
    onClick,
    onCommand,
    dedupe: history.firstTime,
    reasons: {
      close: { title: 'Close by hand', label: 'Why can it be closed without proof?', submit: 'Close' },
    },
  })
  const worker = startWorker({
    ...store,
    queue: 'bot',
    concurrency: settings.concurrency,
    lockMs: settings.jobLock,
    onError,
    onGivenUp: (job, error) =>
      log.error({ job: job.kind }, `given up, resume will ask again: ${error.message}`),
    handlers: { publish: publishThread(deps), 'publish-answer': publishAnswer(deps) },
  })
  await worker.ready()
  const gone = reportGone(deps)
  const watch = startSymptomWatch({
    kube,
    cluster,
    clock,
    log,
    settings: { stuckAfterMs: settings.stuckAfter, rolloutStuckAfterMs: settings.rolloutStuckAfter, tickMs },
    openTickets: await openTickets(history, settings.incidentWindow),
    onSymptom: reportSymptom(deps),
    onGone: one => gone({ node: one.node, ticket: ticketId(one), end: one.end }),
  })
  const resuming = every(settings.resumeEvery, log, 'resume', resume(deps))
  await serve({
    log,
    http: { host: settings.httpHost, port: settings.httpPort },
    notReady: () => [
      ...(slack.connected() > 0 ? [] : ['Slack is not connected']),
      ...watch
        .health()
        .filter(({ lastProofOfLife }) => Date.now() - lastProofOfLife > watchSilentMs)
        .map(({ resource }) => `the watch of ${resource} is silent`),
    ],
    metrics: {
      watches: () => watch.health(),
      queues: async () => ({ bot: { ...(await jobs.depth('bot')) } }),
    },
    stops: [
      () => slack.stop(),
      () => watch.stop(),
      closeWorker(worker),
      resuming.stop,
      () => kube.close(),
      () => jobs.close(),
      () => history.close(),
    ],
  })
}
