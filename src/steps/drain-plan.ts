import { type Budget, budgetWords } from '../core/drain/budget.js'
import { countedBy, tightBudgets } from '../core/drain/tight-budgets.js'
import {
  type DrainPod,
  goes,
  isFinished,
  nameOf,
  podCount,
  type PodVerdict,
  type Standing,
  staysWord,
} from '../core/evictable.js'
import type { NodeFacts } from '../core/evidence/bundle.js'
import { shownDuration } from '../core/duration.js'
import type { Plan } from '../core/runbook/plan.js'
import type { StepSpec } from '../core/runbook/schema.js'
import { evictionBody, shownRequest } from '../core/requests.js'
import { Refused } from '../ports.js'
import { removalCanFollow } from './after-drain.js'
import { nodeNow } from './cordon.js'
import { readGround, readVerdicts } from './drain-facts.js'
import type { StepContext } from './step.js'

type Params = StepSpec & { kind: 'drain' }

/** A drained node without a cordon fills up again, and one that was rebooted is another one. */
export const barredNow = (
  { unschedulable, bootId }: NodeFacts,
  { run }: Pick<StepContext, 'run'>,
): string | undefined => {
  if (bootId !== run.bootId)
    return `${run.node} was rebooted since this run was opened: end it and open a new one`
  return unschedulable
    ? undefined
    : `${run.node} is not cordoned, so what is evicted would come back at once: cordon it and retry`
}

/** @throws Refused; what an earlier start has done is not known here, so nothing is said of it */
export const readyToDrain = async (ctx: StepContext): Promise<NodeFacts> => {
  const facts = await nodeNow(ctx)
  const why = barredNow(facts, ctx)
  if (why !== undefined) throw new Refused(why)
  return facts
}

/** @throws Refused where this process, another part of cnibot or its Redis runs on the node */
export const onOtherGround = async (
  ctx: StepContext,
  node: NodeFacts,
  pods: readonly DrainPod[],
): Promise<string[]> => {
  const { here, unknown } = await readGround(ctx, node, pods)
  if (here.length === 0) return unknown
  throw new Refused(
    `this would drain the node that cnibot itself stands on. ${node.name} is cordoned, so move these first, then retry. ${here.join('. ')}`,
    here.join('\n'),
  )
}

const row = ({ pod, verdict, why, loses }: PodVerdict): string => {
  const lost = loses.length > 0 ? `; loses emptyDir ${loses.join(', ')}` : ''
  return `${nameOf(pod)} · ${verdict}: ${why}${lost}`
}

const some = (names: readonly string[]): string =>
  `${names.slice(0, 4).join(', ')}${names.length > 4 ? `, and ${names.length - 4} more` : ''}`

/** A budget that lets the first Pod go may hold the second: "none is in the way" is said of none at all. */
const budgetFacts = (verdicts: readonly PodVerdict[], budgets: readonly Budget[]): string[] => {
  const waiting = verdicts.filter(({ verdict }) => verdict === 'waits')
  const tight = tightBudgets(budgets, verdicts)
  if (waiting.length === 0 && tight.length === 0) return ['No budget (PDB) is in the way now.']
  return [
    ...(waiting.length > 0
      ? [
          `Waiting for a budget (PDB), ${waiting.length}: ${some(waiting.map(({ pod, why }) => `${nameOf(pod)}, ${why}`))}.`,
        ]
      : []),
    ...(tight.length > 0 ? [`Budgets (PDB) that let only some go at a time: ${some(tight)}.`] : []),
  ]
}

const factsOf = (
  node: string,
  { verdicts, budgets }: { verdicts: readonly PodVerdict[]; budgets: readonly Budget[] },
  params: Params,
  { afterwards, unknown }: { afterwards: string[]; unknown: string[] },
): string[] => {
  const those = (is: (one: PodVerdict) => boolean): string[] =>
    verdicts.filter(is).map(({ pod }) => nameOf(pod))
  const moving = those(goes)
  const losing = verdicts.filter(({ loses }) => loses.length > 0)
  const unmanaged = those(one => goes(one) && one.pod.controller === undefined && !isFinished(one.pod))
  const finished = those(one => goes(one) && isFinished(one.pod))
  const staying = those(({ verdict }) => verdict === 'leave').length
  return [
    `Evicts ${podCount(moving.length)} from ${node}; ${podCount(staying)} of DaemonSets or the kubelet itself ${staysWord(staying)}, with ${staying === 1 ? 'its' : 'their'} addresses.`,
    ...budgetFacts(verdicts, budgets),
    losing.length === 0
      ? 'No Pod has data in an emptyDir.'
      : `Losing what is in an emptyDir, ${losing.length}: ${some(losing.map(({ pod, loses }) => `${nameOf(pod)} (${loses.join(', ')})`))}.`,
    ...(unmanaged.length > 0
      ? [`Without a controller, so nothing starts them again, ${unmanaged.length}: ${some(unmanaged)}.`]
      : moving.length > finished.length
        ? ['Each of those that run has a controller that starts it elsewhere.']
        : []),
    ...(finished.length > 0
      ? [`Finished, so they only go, and their logs with them, ${finished.length}: ${some(finished)}.`]
      : []),
    `Waits for budgets up to ${shownDuration(params.deadline)}; each Pod may take its own grace period and ${shownDuration(params.pod_deadline)} more. Pods that come later are not touched.`,
    'This cannot be undone: Pods that moved stay where they are.',
    ...afterwards,
    ...unknown.map(what => `Not known: ${what}.`),
  ]
}

/** Several Pods may share a budget that lets only some of them go at a time. */
const budgetRows = (budgets: readonly Budget[], verdicts: readonly PodVerdict[]): string[] =>
  budgets.flatMap(budget => {
    const counts = countedBy(budget, verdicts)
    return counts === 0
      ? []
      : [`${budget.namespace}/${budget.name}: ${budgetWords(budget)}; counts ${counts} of these Pods`]
  })

/** Nothing is begun while one Pod would stop it half way: as kubectl does. */
const refuseBlocked = (node: string, verdicts: readonly PodVerdict[]): void => {
  const blocking = verdicts.filter(({ verdict }) => verdict === 'blocks')
  if (blocking.length === 0) return
  throw new Refused(
    `${node} cannot be drained: ${podCount(blocking.length)} cannot be moved by eviction. ${some(blocking.map(({ pod, why }) => `${nameOf(pod)}: ${why}`))}. Move them by hand and retry`,
    [...blocking, ...verdicts.filter(({ verdict }) => verdict !== 'blocks')].map(row).join('\n'),
  )
}

/** Reads only. @throws Refused where the drain must not begin, with every Pod's verdict as its output */
export const planDrain = async (params: Params, ctx: StepContext): Promise<Plan<'drain'>> => {
  const { node } = ctx.run
  const readAt = ctx.clock.now()
  const facts = await readyToDrain(ctx)
  const pods = await ctx.cluster.podsToDrain(node)
  const unknown = await onOtherGround(ctx, facts, pods)
  const { verdicts, budgets } = await readVerdicts(ctx, node, pods, params)
  refuseBlocked(node, verdicts)
  const afterwards = verdicts.some(goes) ? await removalCanFollow(ctx, verdicts) : []
  const of = (kind: Standing): PodVerdict[] => verdicts.filter(({ verdict }) => verdict === kind)
  const moving = verdicts.filter(goes).map(({ pod }) => pod)
  const lists = [
    { title: 'Pods that wait for a budget', rows: of('waits').map(row) },
    { title: 'Budgets (PDB) that count these Pods', rows: budgetRows(budgets, verdicts) },
    { title: 'Pods to evict', rows: of('evict').map(row) },
    { title: 'Pods that stay', rows: of('leave').map(row) },
  ]
  return {
    kind: 'drain',
    title: `Drain ${node}: evict ${podCount(moving.length)}`,
    facts: factsOf(node, { verdicts, budgets }, params, { afterwards, unknown }),
    lists: lists.filter(({ rows }) => rows.length > 0),
    commands: moving.map(pod =>
      shownRequest(
        'POST',
        `/api/v1/namespaces/${pod.namespace}/pods/${pod.name}/eviction`,
        evictionBody(pod),
      ),
    ),
    nothingToDo: moving.length === 0,
    data: {
      pods: moving.map(({ namespace, name, uid, graceMs }) => ({ namespace, name, uid, graceMs })),
      deleteEmptydirData: params.delete_emptydir_data,
      evictUnmanaged: params.evict_unmanaged,
      deadlineMs: params.deadline,
      podDeadlineMs: params.pod_deadline,
    },
    readAt,
  }
}
