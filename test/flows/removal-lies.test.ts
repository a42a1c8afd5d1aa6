import { type Bundle, isKnown, known } from '../../src/core/evidence/bundle.js'
import { Failed } from '../../src/ports.js'
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
const contextOf = (says: string): StepContext => {
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
    measure: async () => ({ bundle: reading(now), id: 'b-1' }),
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

test('B4: an address whose new owner has gone again by the time it is named is still told as given out since', async () => {
  const line = { file: '10.244.7.2', result: 'skipped', why: 'the address has a new owner: ' }
  const ctx = contextOf(`${JSON.stringify(line)}\n${done}`)
  const spec = { kind: 'remove-orphans' as const, older_than: 15 * minute, readings: 2 as const }
  const { says, left } = await putBack(await removeOrphans.plan(spec, ctx), ctx)
  expect(left).toEqual([
    '10.244.7.2: given out since, to a sandbox that has gone again, of no Pod that the API knows by this address',
  ])
  expect(says).toMatch(/^0 addresses put back; 1 could not be/)
})
