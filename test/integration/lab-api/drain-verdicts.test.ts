import { type DrainOptions, drainVerdicts, type PodVerdict } from '../../../src/core/evictable.js'
import { Failed, Refused } from '../../../src/ports.js'
import { drain } from '../../../src/steps/drain.js'
import type { StepContext } from '../../../src/steps/step.js'
import { bench } from '../../flows/drain-context.js'
import { type DrainLab, drainPods, startDrainLab } from './drain-world.js'

let lab: DrainLab
beforeEach(async () => {
  lab = await startDrainLab()
})
afterEach(() => lab?.close())

const ours = async (flags: Omit<DrainOptions, 'testPodNamespace'>): Promise<PodVerdict[]> => {
  const [pods, budgets, rollouts] = await Promise.all([
    lab.cluster.podsToDrain('node-03'),
    lab.cluster.budgets(),
    lab.cluster.rollouts('node-03'),
  ])
  const daemonSets = new Set(rollouts.map(({ namespace, name }) => `${namespace}/${name}`))
  return drainVerdicts(pods, { budgets, daemonSets }, { ...flags, testPodNamespace: 'cnibot' })
}

const flagsOf = (flags: Omit<DrainOptions, 'testPodNamespace'>): string[] => [
  '--ignore-daemonsets',
  ...(flags.deleteEmptydirData ? ['--delete-emptydir-data'] : []),
  ...(flags.evictUnmanaged ? ['--force'] : []),
]

const sorted = (names: string[]): string[] => [...new Set(names)].sort()

/** Names behind kubectl's "cannot delete …: a, b, c". */
const refused = (stderr: string): string[] =>
  sorted(
    [...stderr.matchAll(/cannot delete [^:]*: ([^\n[\]]+)|daemonsets\.apps "gone" not found: ([^\n[\]]+)/g)]
      .flatMap(([, one, other]) => (one ?? other ?? '').split(/,\s+/))
      .map(name => name.trim().replace(/^payments\//, ''))
      .filter(name => name in drainPods),
  )

const named = (verdicts: readonly PodVerdict[], ...kinds: PodVerdict['verdict'][]): string[] =>
  verdicts
    .filter(({ verdict }) => kinds.includes(verdict))
    .map(({ pod }) => pod.name)
    .sort()

const byFilter = (one: PodVerdict): boolean => one.verdict === 'blocks' && !one.why.includes('budgets')

describe('P-A4: the same verdict as kubectl drain, for every Pod', () => {
  test.each([
    { deleteEmptydirData: false, evictUnmanaged: false },
    { deleteEmptydirData: true, evictUnmanaged: false },
    { deleteEmptydirData: false, evictUnmanaged: true },
  ])('what it refuses to begin with: %j', async flags => {
    const { stderr, code } = await lab.kubectl('drain', 'node-03', '--dry-run=client', ...flagsOf(flags))
    expect(code).toBe(1)
    const verdicts = await ours(flags)
    expect(refused(stderr).length).toBeGreaterThan(0)
    expect(named(verdicts.filter(byFilter), 'blocks')).toEqual(refused(stderr))
  })

  test('what it evicts, what waits for a budget, what is never evicted, and what stays', async () => {
    const flags = { deleteEmptydirData: true, evictUnmanaged: true }
    const verdicts = await ours(flags)
    const dry = await lab.kubectl('drain', 'node-03', '--dry-run=client', ...flagsOf(flags))
    const willEvict = [...`${dry.stdout}${dry.stderr}`.matchAll(/evicting pod payments\/(\S+)/g)].map(
      ([, name]) => name ?? '',
    )
    expect(named(verdicts, 'evict', 'waits', 'blocks')).toEqual(willEvict.sort())
    expect(named(verdicts, 'leave')).toEqual(
      Object.keys(drainPods)
        .filter(name => !willEvict.includes(name))
        .sort(),
    )
    const real = await lab.kubectl('drain', 'node-03', ...flagsOf(flags), '--timeout=4s')
    const said = `${real.stdout}${real.stderr}`
    const names = (pattern: RegExp): string[] =>
      sorted([...said.matchAll(pattern)].map(([, name]) => name ?? ''))
    expect(named(verdicts, 'evict')).toEqual(names(/^pod\/(\S+) evicted/gm))
    expect(named(verdicts, 'waits')).toEqual(names(/evicting pods\/"(\S+)" .*will retry after 5s/g))
    expect(named(verdicts, 'blocks')).toEqual(
      names(/evicting pods\/"(\S+)" -n "payments": This pod has more than one/g),
    )
    expect(lab.left()).toEqual(named(verdicts, 'waits', 'blocks', 'leave'))
  })

  test('the step evicts exactly these, and leaves exactly what kubectl leaves', async () => {
    const verdicts = await ours({ deleteEmptydirData: true, evictUnmanaged: true })
    const ctx: StepContext = { ...bench([]).ctx, cluster: lab.cluster }
    const facts = await lab.cluster.node('node-03')
    if (!facts) throw new Error('no node')
    const { uid: nodeUid, bootId } = facts
    const run = { ...ctx.run, node: 'node-03', nodeUid, bootId }
    const onLab = { ...ctx, run, settings: { ...ctx.settings, lookEveryMs: 20 } }
    await lab.cluster.setSchedulable('node-03', { unschedulable: true, cordonedBy: 'x', expectUid: nodeUid })
    const spec = {
      kind: 'drain' as const,
      delete_emptydir_data: true,
      evict_unmanaged: true,
      deadline: 1_500,
      pod_deadline: 60_000,
    }
    // kubectl begins and fails on this one at the end; we do not begin.
    await expect(drain.plan(spec, onLab)).rejects.toThrow(Refused)
    lab.api.store.remove('pods', 'payments', 'budgets-two')
    const plan = await drain.plan(spec, onLab)
    expect(plan.data.pods.map(({ name }) => name)).toEqual(
      named(verdicts, 'evict', 'waits').filter(name => name !== 'budgets-two'),
    )
    const error = await drain.act(plan, onLab).catch((thrown: unknown) => thrown)
    if (!(error instanceof Failed)) throw error
    expect(error.message).toMatch(/not all within .*waiting for payments\/budget-/)
    expect(lab.left()).toEqual(named(verdicts, 'waits', 'leave'))
  })
})
