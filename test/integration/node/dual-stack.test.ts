import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { look, onePlace, order, type Place, storeDir, value } from './on-node.js'

let place: Place
beforeAll(async () => {
  place = await onePlace()
})
afterAll(() => place.close())

test('P-E3, P-A3: IPv6 addresses, two of one owner in two range sets, are read and removed by their canonical names', async () => {
  const { node } = place
  node.switches.setConflist(
    JSON.stringify({
      cniVersion: '1.0.0',
      name: 'k8s-pod-network',
      plugins: [
        {
          type: 'bridge',
          ipam: {
            type: 'host-local',
            ranges: [[{ subnet: '10.244.7.0/24' }], [{ subnet: 'fd00:10:244:7::/64' }]],
          },
        },
      ],
    }),
  )
  await node.add({ name: 'a', namespace: 'payments', uid: 'uid-a' })
  await node.leak(2)
  const { stores, sandboxes, conflist } = await look(node, { args: ['--light'] })
  expect(value(conflist).ipam.rangeSets).toHaveLength(2)
  const living = new Set(value(sandboxes).map(({ id }) => id))
  const all = value(stores)[0]?.allocations ?? []
  expect(all.map(({ ip }) => ip)).toEqual([
    '10.244.7.2',
    '10.244.7.3',
    '10.244.7.4',
    'fd00:10:244:7::2',
    'fd00:10:244:7::3',
    'fd00:10:244:7::4',
  ])
  expect(value(stores)[0]?.bookkeeping.toSorted()).toEqual([
    'last_reserved_ip.0',
    'last_reserved_ip.1',
    'lock',
  ])
  const { report } = await order(
    node,
    all.filter(({ owner }) => !living.has(owner)),
  )
  expect(report).toMatchObject({ complete: true, skipped: [] })
  expect(report.moved).toHaveLength(4)
  const left = readdirSync(join(node.root, storeDir)).filter(name => /^10|:/.test(name))
  expect(left).toHaveLength(2)
})
