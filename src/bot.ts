import { createRunbooks } from './adapters/files/runbooks.js'
import { createCluster } from './adapters/kubernetes/cluster.js'
import { connectKube, type Kube } from './adapters/kubernetes/connect.js'
import { startSymptomWatch, type SymptomWatch } from './adapters/kubernetes/symptoms.js'
import { isUnfinished } from './adapters/kubernetes/tracked.js'
import type { RedisHistory } from './adapters/redis/history.js'
import { type JobHandlers, startWorker } from './adapters/redis/job-worker.js'
import { type RunningSlack, startSlack } from './adapters/slack/app.js'
import { openApproverLists } from './adapters/slack/approvers.js'
import type { SlackAccess } from './adapters/slack/client.js'
import { openThread } from './adapters/slack/thread.js'
import type { Settings } from './config.js'
import { threadStream } from './core/incident/incident.js'
import type { Risk } from './core/runbook/approval.js'
import { type Ticket, ticketId } from './core/incident/ticket.js'
import { allIncidents } from './flows/all-incidents.js'
import { answerCommand } from './flows/answer-command.js'
import { publishAnswer } from './flows/answer-request.js'
import { closedChannels } from './flows/closed-channels.js'
import { watchStorm } from './flows/brakes.js'
import { decide } from './flows/decide.js'
import { publishStorm } from './flows/publish-storm.js'
import { publishThread } from './flows/publish-thread.js'
import { reportGone, reportSymptom } from './flows/report-symptom.js'
import { resume } from './flows/resume.js'
import { foldThread, type ThreadEvent } from './flows/thread-events.js'
import type { Log, Runbooks } from './ports.js'
import { closeWorker, every, measureAgainAfterMs, serve, startUp } from './start-up.js'
import { decodeButton, reasonQuestions } from './view/button.js'
import { sentence } from './view/command.js'

const tickMs = 1_000
const watchSilentMs = 180_000

/** Those without an end, and those whose replacement may still start: what became of them is found out at the start. */
const openTickets = async (history: RedisHistory, log: Log, windowMs: number): Promise<Ticket[]> => {
  const incidents = await allIncidents(history, log, windowMs)
  return incidents.flatMap(incident => incident.tickets).filter(isUnfinished)
}

type Started = Awaited<ReturnType<typeof startUp<'bot'>>>

/** Who may approve what, and how they are named. */
const approversOf = (settings: Settings<'bot'>, access: SlackAccess) => {
  const { people, named } = openApproverLists(
    access,
    { users: settings.approvers, groups: settings.approverGroups },
    { low: settings.approversLow, medium: settings.approversMedium, high: settings.approversHigh },
  )
  return {
    approversNamed: named(),
    approversFor: { low: named('low'), medium: named('medium'), high: named('high') },
    approvers: async (risk?: Risk) => ({
      people: await people(risk),
      named: named(risk),
      selfApproval: settings.selfApproval,
    }),
  }
}

/** What the flows of this process are given. */
const depsOf = (started: Started, kube: Kube, runbooks: Runbooks, access: SlackAccess) => {
  const { settings, log, clock, history, jobs } = started
  const thread = openThread(access)
  return {
    clusterName: settings.cluster,
    cluster: createCluster(kube, clock),
    history,
    jobs,
    runbooks,
    thread,
    clock,
    log,
    closedChannels: closedChannels(clock, log),
    ...approversOf(settings, access),
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
      paused: settings.paused,
      storm: { threshold: settings.stormThreshold, windowMs: settings.stormWindow },
      escalateTo: settings.escalateTo ?? 'platform',
      measureAgainAfterMs,
    },
  }
}
type Deps = ReturnType<typeof depsOf>

/** Hears buttons and `/cni`. */
const listen = ({ settings, history }: Started, deps: Deps, access: SlackAccess): Promise<RunningSlack> =>
  startSlack({
    ...access,
    appToken: settings.slackAppToken,
    onClick: async click => {
      const value = decodeButton(click.value)
      if (!value || value.action !== click.action)
        return sentence('This button is none of mine; nothing was done.')
      const answer = await decide(deps)({ by: click.user, value, reason: click.inputs.reason })
      return answer === '' ? undefined : sentence(answer)
    },
    onCommand: ({ text, user, channel, triggerId }) =>
      answerCommand(deps)({ text, by: user, channel, id: triggerId }),
    handled: {
      was: key => history.wasHandled(key),
      mark: (key, ttlMs) => history.markHandled(key, ttlMs),
    },
    reasons: reasonQuestions,
  })

/** Tells the histories of Pods and rollouts that stand still, and of those that went. */
const watchSymptoms = async (
  started: Started,
  deps: Deps,
  kube: Kube,
  storm: () => Promise<void>,
): Promise<SymptomWatch> => {
  const { settings, log, clock, history } = started
  const symptom = reportSymptom(deps)
  const gone = reportGone(deps)
  return startSymptomWatch({
    kube,
    cluster: deps.cluster,
    clock,
    log,
    settings: { stuckAfterMs: settings.stuckAfter, rolloutStuckAfterMs: settings.rolloutStuckAfter, tickMs },
    openTickets: await openTickets(history, log, settings.incidentWindow),
    onSymptom: async one => {
      await symptom(one)
      await storm()
    },
    onGone: async one => {
      await gone({ node: one.node, ticket: ticketId(one), end: one.end })
      await storm()
    },
  })
}

const handlersOf = (deps: Deps): JobHandlers => ({
  publish: publishThread(deps),
  'publish-answer': publishAnswer(deps),
  'publish-storm': publishStorm(deps),
})

const missing = (slack: RunningSlack, watch: SymptomWatch, deps: Deps): string[] => [
  ...(slack.connected() > 0 ? [] : ['Slack is not connected']),
  ...deps.closedChannels.list(),
  ...watch
    .health()
    .filter(({ lastProofOfLife }) => Date.now() - lastProofOfLife > watchSilentMs)
    .map(({ resource }) => `the watch of ${resource} is silent`),
]

/** Watches the cluster and speaks Slack; it cannot reach a node and changes nothing. Ends with the process. */
export const runBot = async (): Promise<void> => {
  const started = await startUp('bot', () => watch.health())
  const { settings, log, history, jobs, queue, metrics } = started
  const runbooks = createRunbooks(settings.runbooksDir)
  await runbooks.list()
  const kube = connectKube({ kubeconfig: settings.kubeconfig, context: settings.kubeContext })
  const access = { botToken: settings.slackBotToken, apiUrl: settings.slackApiUrl, log }
  const deps = depsOf(started, kube, runbooks, access)
  const slack = await listen(started, deps, access)
  const worker = startWorker({ ...queue, handlers: handlersOf(deps) })
  await worker.ready()
  const storm = watchStorm(deps)
  const watch = await watchSymptoms(started, deps, kube, storm)
  const unfinished = resume(deps)
  const resuming = every(settings.resumeEvery, log, 'resume', async () => {
    await unfinished()
    await storm()
  })
  await serve({
    log,
    http: { host: settings.httpHost, port: settings.httpPort },
    notReady: () => missing(slack, watch, deps),
    metrics,
    stops: [
      () => slack.stop(),
      () => watch.stop(),
      closeWorker(worker),
      () => resuming.stop(),
      () => started.telling.stop(),
      () => kube.close(),
      () => jobs.close(),
      () => history.close(),
    ],
  })
}
