import { fakeRollout } from '../fakes/cluster.js'
import { t0 } from '../unit/runbook/runs.js'
import { buttonsOf, shown } from '../unit/view/shown.js'
import { FakeNode } from '../saga/fake-node.js'
import { onNode } from './drain-context.js'
import { minute, row, world } from './compare-world.js'

/** Two Pods, one of a DaemonSet, and these leaked addresses. */
const leaking = (leaks: number) => {
  const machine = new FakeNode({ now: () => t0 })
  const daemonSet = { kind: 'DaemonSet', name: 'agent', uid: 'ds' }
  const pods = [onNode('payments', 'api-1'), onNode('platform', 'agent-x', { controller: daemonSet })]
  for (const pod of pods) pod.ips = [machine.add(pod).ip]
  const leaked = Array.from({ length: leaks }, () => machine.leak())
  return { machine, pods, leaked }
}

test('P-A2: each column promises what the removal of its runbook would plan', async () => {
  const { machine, pods, leaked } = leaking(3)
  const [first = ''] = leaked
  const file = machine.store.get(first)
  if (!file) throw new Error('nothing leaked')
  // Old enough for the one runbook, too young for the other.
  machine.store.set(first, { ...file, mtime: t0 - 15 * minute })
  const { click, compare, card, cluster } = await world(pods, machine)
  cluster.all.rollouts.push(fakeRollout('platform', 'agent', 'ds'))
  await click('U9', { action: 'compare' })
  await compare()
  const message = (await card())!
  expect(row(message, 'addresses given back').slice(1)).toEqual(['3', '2 (1 left, see below)'])
  expect(row(message, 'in the way')[1]).toBe('nothing')
  expect(shown(message)).toMatch(new RegExp(`\\*Addresses left after a drain:\\* ${first} \\(made 900 s ago`))
})

test('P-A2, P-A4: where nothing would be left to prove the runtime after a drain, its column says so and it is not offered', async () => {
  const { machine, pods } = leaking(3)
  const only = pods.slice(0, 1)
  const { click, compare, card } = await world(only, machine)
  await click('U9', { action: 'compare' })
  await compare()
  const message = (await card())!
  expect(row(message, 'addresses given back').slice(1)).toEqual(['3', 'none as it stands'])
  expect(shown(message)).toMatch(/\*Removal after a drain refused:\* the runtime lists no sandbox at all/)
  expect(buttonsOf(message)).toEqual(['cnibot:reconcile: Reconcile in place…', 'cnibot:hold: Hold'])
})

test('law 5: what is not known of the ground a drain stands on is on the card', async () => {
  const { click, compare, card } = await world([onNode('payments', 'api-1')])
  await click('U9', { action: 'compare' })
  await compare()
  const message = (await card())!
  expect(row(message, 'in the way')[2]).toMatch(/not all is known, see below/)
  expect(shown(message)).toMatch(/\*Not known:\* .*where Redis runs/)
})
