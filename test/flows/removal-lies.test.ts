import { type Bundle, isKnown, known, unknown } from '../../src/core/evidence/bundle.js'
import type { Done } from '../../src/core/runbook/plan.js'
import { Failed, Unreachable } from '../../src/ports.js'
import { putBack } from '../../src/steps/put-back.js'
import { removeOrphans } from '../../src/steps/remove-orphans.js'
import type { StepContext } from '../../src/steps/step.js'
import { fakeCluster, fakeNode } from '../fakes/cluster.js'
import { leakingNode, minute, now } from '../unit/leaking-node.js'
import { fold, opened, runbook } from '../unit/runbook/runs.js'
import { ownSettings } from '../fakes/settings.js'

/** The leaking node as the one this run is about. */
const reading = (at: number): Bundle => {
  const bundle = leakingNode(10, 3)
  if (!isKnown(bundle.facts) || !isKnown(bundle.host)) throw new Error('fixture')
  return {
    ...bundle,
    collectedAt: at,
    facts: known({ ...bundle.facts.value, uid: 'uid-7', bootId: 'boot-7' }, now),
    host: known({ ...bundle.host.value, bootId: 'boot-7' }, now),
  }
}

/** A step on a node that moved nothing or everything, and answers `says`. */
const contextOf = (
  says: string,
  measure = async () => ({ bundle: reading(now), id: 'b-1' }),
): StepContext => {
  const node = fakeNode('node-07', { uid: 'uid-7', bootId: 'boot-7', unschedulable: true, cordonedBy: 'us' })
  const unused = async (): Promise<never> => {
    throw new Error('this step does not ask this')
  }
  return {
    run: fold(opened(runbook({ steps: [{ kind: 'remove-orphans', older_than: '15m', readings: 2 }] }))),
    index: 0,
    cluster: fakeCluster({ nodes: [node] }),
    shell: {
      shown: () => 'remove-orphans',
      run: async () => ({
        shown: 'remove-orphans',
        exitCode: 0,
        signal: undefined,
        timedOut: false,
        truncated: false,
        stdout: says,
        stderr: '',
        durationMs: 1,
      }),
    },
    clock: { now: () => now },
    settings: ownSettings,
    signal: new AbortController().signal,
    measure,
    bundle: async () => reading(now - minute),
    progress: unused,
  }
}
const moved = (ip: string): string => `${JSON.stringify({ file: ip, result: 'moved' })}\n`
const done =
  '{"done":true,"verb":"remove","underLockMs":4,"quarantine":"/var/lib/cni/cnibot-quarantine/x/y"}\n'
const act = async (says: string) => {
  const ctx = contextOf(says)
  const spec = { kind: 'remove-orphans' as const, older_than: 15 * minute, readings: 2 as const }
  return removeOrphans.act(await removeOrphans.plan(spec, ctx), ctx)
}

test('B6: a node that reports what was approved is believed', async () => {
  const { data, says } = await act(moved('10.244.7.12') + moved('10.244.7.13') + done)
  expect(data.moved).toEqual(['10.244.7.12', '10.244.7.13'])
  expect(says).toMatch(/^2 moved/)
})

test('B6: a node that reports an address moved that nobody approved pauses the run and is named', async () => {
  const error: unknown = await act(moved('10.244.7.12') + moved('10.244.7.2') + done).catch(
    (cause: unknown) => cause,
  )
  expect(error).toBeInstanceOf(Failed)
  expect(error).toMatchObject({
    message:
      'the node reports 1 addresses as moved that were not on the list it was given (10.244.7.2): look at the node before anything else is done there',
    output: '10.244.7.2',
  })
})

test.each([
  ['of a step that was never begun', 0],
  ['of files that no plan of this step names', 1],
])('B4: a node that reports earlier moves %s pauses the run and is named', async (_what, starts) => {
  const ctx = contextOf(`${JSON.stringify({ file: '10.244.7.2', result: 'already' })}\n${done}`)
  const spec = { kind: 'remove-orphans' as const, older_than: 15 * minute, readings: 2 as const }
  const plan = await removeOrphans.plan(spec, ctx)
  const lines = ctx.run.lines.map(line =>
    starts > 0 ? { ...line, status: 'acting' as const, starts } : line,
  )
  const acted = removeOrphans.act(plan, { ...ctx, run: { ...ctx.run, lines } })
  await expect(acted).rejects.toThrow(
    /^the node reports 1 addresses as moved that were not on the list .*\(10\.244\.7\.2\)/,
  )
})

/** The removal that was planned and, where `moved` is given, done; then the undo on a node that answers `says`. */
const undo = async (how: {
  says: string
  moved: string[] | undefined
  measure?: () => Promise<{ bundle: Bundle; id: string }>
}) => {
  const plan = await removeOrphans.plan(
    { kind: 'remove-orphans', older_than: 15 * minute, readings: 2 },
    contextOf(''),
  )
  const { network, dir, command } = plan.data
  const data = {
    moved: how.moved ?? [],
    skipped: [],
    network,
    dir,
    command,
    quarantine: '/q',
    underLockMs: 1,
  }
  const done: Done<'remove-orphans'> | undefined = how.moved && {
    kind: 'remove-orphans',
    changed: true,
    says: '',
    detail: [],
    commands: [],
    data,
  }
  return putBack(plan, done, contextOf(how.says, how.measure))
}
/** The store no longer holds the two that could go. */
const without = async () => {
  const bundle = reading(now)
  if (!isKnown(bundle.stores)) throw new Error('fixture')
  const stores = bundle.stores.value.map(store => ({
    ...store,
    allocations: store.allocations.filter(({ ip }) => !['10.244.7.12', '10.244.7.13'].includes(ip)),
  }))
  return { bundle: { ...bundle, stores: known(stores, now) }, id: 'b-2' }
}
const lost = (ip: string) => `${ip}: its file is neither in the quarantine nor in the store`
const [one, two] = ['10.244.7.12', '10.244.7.13'] as const

describe('B4: what was moved and the node does not tell of is not put back', () => {
  test('where the quarantine is lost, each address is named', async () => {
    const undone = await undo({ says: done, moved: [one, two], measure: without })
    expect(undone.left).toEqual([lost(one), lost(two)])
    expect(undone.says).toBe('0 addresses put back; 2 could not be')
  })
  test('where it tells of one only, the other is named', async () => {
    const { says, left } = await undo({ says: moved(one) + done, moved: [one, two], measure: without })
    expect({ says, left }).toEqual({ says: '1 address put back; 1 could not be', left: [lost(two)] })
  })
  test('where the worker died before the answer was on record, what was approved is looked for', async () => {
    const { left } = await undo({ says: done, moved: undefined, measure: without })
    expect(left).toEqual([lost(one), lost(two)])
  })
  test('where nothing had moved by then, nothing is missing', async () => {
    expect(await undo({ says: done, moved: undefined })).toEqual({ says: '0 addresses put back', left: [] })
  })
  test('where somebody has put the files back by hand, they are back', async () => {
    expect(await undo({ says: done, moved: [one, two] })).toEqual({ says: '2 addresses put back', left: [] })
  })
  test('where the store cannot be read, that is not known of any', async () => {
    const silent = async () => ({
      bundle: { ...reading(now), stores: unknown('no answer', now) },
      id: 'b-3',
    })
    const words = (ip: string) =>
      `${ip}: the node does not tell that it is back, and the store could not be read: no answer`
    const { left } = await undo({ says: done, moved: [one, two], measure: silent })
    expect(left).toEqual([words(one), words(two)])
    const gone = undo({
      says: done,
      moved: [one],
      measure: () => Promise.reject(new Unreachable('no route')),
    })
    expect((await gone).left).toEqual([words(one).replace('no answer', 'no route')])
  })
})

test.each([
  ['that the removal did not move', [one]],
  ['that no plan of this step names, of a step that never came to its end', undefined],
])('B6: a node that tells of addresses put back %s is not believed', async (_what, moved) => {
  const says = `${JSON.stringify({ file: '10.244.7.2', result: 'already' })}\n${done}`
  const error: unknown = await undo({ says, moved, measure: without }).catch((cause: unknown) => cause)
  expect(error).toBeInstanceOf(Failed)
  expect(error).toMatchObject({
    message:
      'the node reports 1 addresses as put back that this step never moved (10.244.7.2): look at the node before anything else is done there',
  })
})

test('B4: an address whose new owner has gone again by the time it is named is still told as given out since', async () => {
  const line = { file: one, result: 'skipped', why: 'the address has a new owner: ' }
  const { says, left } = await undo({ says: `${JSON.stringify(line)}\n${done}`, moved: [one] })
  expect(left).toEqual([
    `${one}: given out since, to a sandbox that has gone again, of no Pod that the API knows by this address`,
  ])
  expect(says).toMatch(/^0 addresses put back; 1 could not be: its file stays in \//)
})
