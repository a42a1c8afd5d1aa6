import { createHash } from 'node:crypto'
import { isKnown } from '../core/evidence/bundle.js'
import { testPodLabel } from '../core/incident/symptom.js'
import { type Gap, measure } from '../core/ipam/gap.js'
import { inRanges } from '../core/ipam/range-set.js'
import type { NodeFacts, PodFacts } from '../core/evidence/bundle.js'
import { theirs } from '../core/runbook/cordon-mark.js'
import type { Plan } from '../core/runbook/plan.js'
import { shownRequest, testPodBody, type TestPodSpec } from '../core/requests.js'
import { Failed, Refused, Unreachable } from '../ports.js'
import { nodeNow } from './cordon.js'
import { lookUntil, type Step, type StepContext } from './step.js'

/** The same for every try of one step, so that a try after a crash finds its own leftover. */
const podName = (ctx: StepContext): string => {
  const id = createHash('sha256').update(`${ctx.run.cluster}/${ctx.run.run}/${ctx.index}`).digest('hex')
  return `cnibot-test-${id.slice(0, 12)}`
}

const specOf = (via: 'pinned' | 'scheduler', taints: NodeFacts['taints'], ctx: StepContext): TestPodSpec => ({
  namespace: ctx.settings.testPodNamespace,
  name: podName(ctx),
  image: ctx.settings.testPodImage,
  node: ctx.run.node,
  via,
  taints,
  labels: { [testPodLabel]: 'true' },
  annotations: { 'cnibot.io/run': ctx.run.run },
})

const running = async (plan: Plan<'test-pod'>, uid: string, ctx: StepContext): Promise<PodFacts> => {
  const { namespace, name } = plan.data
  const pod = await lookUntil(ctx, async () => {
    const seen = await ctx.cluster.pod(namespace, name)
    if (seen?.phase === 'Failed')
      throw new Failed(
        `the test Pod ${namespace}/${name} failed at once`,
        (await ctx.cluster.podEvents(namespace, name, uid)).join('\n'),
      )
    return seen && seen.phase === 'Running' && seen.ips.length > 0 ? seen : undefined
  })
  if (pod) return pod
  const events = await ctx.cluster.podEvents(namespace, name, uid)
  throw new Failed(
    `the test Pod ${namespace}/${name} did not run on ${ctx.run.node} within ${ctx.settings.deadlineMs / 1000} s`,
    events.slice(-3).join('\n'),
  )
}

interface Held {
  /** Every address of the Pod with its owner: two on a dual-stack node. */
  files: Map<string, string>
  /** Address files of the network in all, right then. */
  before: number
}

const filesOf = (gap: Gap): Map<string, string> =>
  new Map(gap.standings.map(({ allocation }) => [allocation.ip, allocation.owner]))

/** The Pod's own addresses are inside the node's ranges, and no sandbox failure was told of it (P-A7, P-V2). */
const proveAdd = async (pod: PodFacts, ctx: StepContext): Promise<Held> => {
  const { bundle } = await ctx.measure(ctx.run.node, 'count')
  const gap = measure(bundle)
  if (!isKnown(gap)) throw new Failed(`the test Pod runs, but the node could not be counted: ${gap.reason}`)
  if (!isKnown(bundle.conflist))
    throw new Failed(`the test Pod runs, but its range could not be read: ${bundle.conflist.reason}`)
  const { rangeSets } = bundle.conflist.value.ipam
  const outside = pod.ips.find(ip => !inRanges(ip, rangeSets))
  if (outside !== undefined)
    throw new Failed(`the test Pod got ${outside}, which is outside the node's range`)
  const events = await ctx.cluster.podEvents(pod.namespace, pod.name, pod.uid)
  const failures = events.filter(event => event.startsWith('FailedCreatePodSandBox'))
  if (failures.length > 0)
    throw new Failed('the test Pod runs, but its sandbox failed first', failures.join('\n'))
  const all = filesOf(gap.value)
  const unfiled = pod.ips.find(ip => !all.has(ip))
  if (unfiled !== undefined)
    throw new Failed(`the test Pod has ${unfiled}, but the store has no file of that name`)
  return { files: new Map(pod.ips.map(ip => [ip, all.get(ip) ?? ''])), before: all.size }
}

/** Deleting gives back exactly its addresses: what tells a repaired node from a tidied one (P-V3). */
const proveDel = async (pod: PodFacts, held: Held, ctx: StepContext): Promise<string> => {
  await ctx.cluster.deletePod(pod.namespace, pod.name, pod.uid)
  const ips = [...held.files.keys()].join(', ')
  let seen = held.before
  const after = await lookUntil(ctx, async () => {
    const { bundle } = await ctx.measure(ctx.run.node, 'count')
    const gap = measure(bundle)
    if (!isKnown(gap)) return undefined
    const now = filesOf(gap.value)
    seen = now.size
    return [...held.files].some(([ip, owner]) => now.get(ip) === owner) ? undefined : now.size
  })
  if (after === undefined)
    throw new Failed(
      `leak still active: the test Pod was deleted and ${ips} did not come back within ${ctx.settings.deadlineMs / 1000} s; the node is tidied, not repaired`,
      `address files before the delete ${held.before}, now ${seen}`,
    )
  const others = after - (held.before - held.files.size)
  const meanwhile =
    others === 0 ? '' : `; ${Math.abs(others)} other files ${others > 0 ? 'came' : 'went'} meanwhile`
  return `ran with ${ips}; deleted, and its address came back: ${held.before} → ${after}${meanwhile}`
}

const cleanUp = async (plan: Plan<'test-pod'>, ctx: StepContext): Promise<string> => {
  const pod = await ctx.cluster.pod(plan.data.namespace, plan.data.name)
  if (!pod) return 'no test Pod is left'
  await ctx.cluster.deletePod(pod.namespace, pod.name, pod.uid)
  return `test Pod ${pod.namespace}/${pod.name} deleted`
}

/** What the test showed is what counts: a Pod that could not be cleaned up is told beside it, not in its place. */
const cleanedUp = async (error: unknown, plan: Plan<'test-pod'>, ctx: StepContext): Promise<unknown> => {
  try {
    await cleanUp(plan, ctx)
    return error
  } catch (left) {
    if (ctx.signal.aborted) return left
    const { namespace, name } = plan.data
    const why = left instanceof Error ? left.message : String(left)
    const more = `the test Pod ${namespace}/${name} may be left: ${why}`
    if (error instanceof Failed || error instanceof Refused)
      return new Failed(error.message, [error.output, more].filter(line => line !== '').join('\n'))
    return error instanceof Unreachable ? new Unreachable(`${error.message}; ${more}`) : error
  }
}

/** A try that died after its delete leaves a Pod on its way out under the same name. */
const noneLeaving = async (plan: Plan<'test-pod'>, ctx: StepContext): Promise<void> => {
  const gone = await lookUntil(ctx, async () => {
    const seen = await ctx.cluster.pod(plan.data.namespace, plan.data.name)
    return seen?.deletedAt === undefined ? true : undefined
  })
  if (!gone) throw new Failed(`an earlier test Pod ${plan.data.namespace}/${plan.data.name} does not go away`)
}

const facts = ({ namespace, name, image, node, via }: TestPodSpec): string[] => [
  via === 'pinned'
    ? `Creates Pod ${namespace}/${name} (${image}) on ${node}; it tolerates the cordon, so nothing else lands there.`
    : `Creates Pod ${namespace}/${name} (${image}) that only the scheduler may place, on ${node}.`,
  'It must run with an address inside the range; then it is deleted, and exactly that address must come back.',
]

export const testPod: Step<'test-pod'> = {
  plan: async (spec, ctx) => {
    const node = await nodeNow(ctx)
    if (spec.via === 'scheduler' && node.unschedulable)
      throw new Refused(
        `${ctx.run.node} is cordoned by ${theirs(node)}: the scheduler cannot place a Pod there until that is lifted`,
      )
    const pod = specOf(spec.via, node.taints, ctx)
    const path = `/api/v1/namespaces/${pod.namespace}/pods`
    return {
      kind: 'test-pod',
      title:
        spec.via === 'pinned'
          ? `Test Pod on ${ctx.run.node}`
          : `Test Pod on ${ctx.run.node} through the scheduler`,
      facts: facts(pod),
      lists: [],
      commands: [
        shownRequest('POST', path, testPodBody(pod)),
        // Guarded by the uid that the server gives it.
        shownRequest('DELETE', `${path}/${pod.name}`),
      ],
      nothingToDo: false,
      data: pod,
      readAt: ctx.clock.now(),
    }
  },
  act: async (plan, ctx) => {
    const started = ctx.clock.now()
    await noneLeaving(plan, ctx)
    const made = await ctx.cluster.createTestPod(plan.data)
    try {
      const pod = await running(plan, made.uid, ctx)
      const runningAfterMs = ctx.clock.now() - started
      const held = await proveAdd(pod, ctx)
      const deletedAt = ctx.clock.now()
      const says = await proveDel(pod, held, ctx)
      const backAfterMs = ctx.clock.now() - deletedAt
      const ip = [...held.files.keys()].join(', ')
      return {
        kind: 'test-pod',
        changed: false,
        says,
        detail: [],
        commands: plan.commands,
        data: { ip, runningAfterMs, backAfterMs },
      }
    } catch (error) {
      throw await cleanedUp(error, plan, ctx)
    }
  },
  undo: (plan, _done, ctx) => cleanUp(plan, ctx),
}
