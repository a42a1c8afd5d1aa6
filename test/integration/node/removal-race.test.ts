import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { removeOrphansPath } from '../../../src/adapters/ssh/scripts.js'
import {
  encodeOrder,
  encodeRemovalList,
  readRemovalReport,
} from '../../../src/core/evidence/parse/removal-report.js'
import { type Entry, racingBoot, racingDir, RacingNode } from './racing-node.js'

const rounds = 200
/** Small, so that a freed address is given out again at once. */
const subnet = '10.244.7.0/27'
let node: RacingNode

beforeEach(() => {
  node = new RacingNode(subnet)
})
afterEach(() => node.remove())

/** Pods come and go in several processes at once until `stop` is called. */
const churn = (workers: number): (() => Promise<void>) => {
  let going = true
  const worker = async (number: number): Promise<void> => {
    for (let turn = number; going; turn += 1) {
      const id = await node.start((turn * 7) % 40)
      if (id !== undefined && turn % 5 !== 0) await node.stop(id)
      // Some Pods stay a while, so that live addresses are there to be taken by mistake.
      const oldest = [...node.running.keys()][0]
      if (node.running.size > 8 && oldest !== undefined) await node.stop(oldest)
    }
  }
  const working = Promise.all(Array.from({ length: workers }, (_, number) => worker(number)))
  return async () => {
    going = false
    await working
  }
}

const approve = (entries: Entry[], round: number): Promise<string> => {
  const op = `round-${round}`
  const args = [
    'remove',
    '--network-dir',
    racingDir,
    '--quarantine',
    `/var/lib/cni/cnibot-quarantine/${op}/k8s-pod-network`,
  ]
  const more = ['--op', op, '--boot-id', racingBoot]
  const endpoint = ['--endpoint', 'unix:///run/containerd/containerd.sock']
  return node
    .run(
      ['dash', removeOrphansPath, ...args, ...more, ...endpoint],
      encodeOrder(round, encodeRemovalList(entries)),
    )
    .then(({ code, stdout, stderr }) => {
      if (code !== 0) throw new Error(`round ${round}: exit ${code}: ${stderr}`)
      return stdout
    })
}

const leakSome = async (count: number): Promise<string[]> => {
  const ids = await Promise.all(Array.from({ length: count }, () => node.leak()))
  return ids.filter(id => id !== undefined)
}

test('P-A3: removal races real ADDs and DELs: no live address is freed, no approved orphan stays', async () => {
  const stop = churn(2)
  let approvedOrphans = 0
  let wrong = { living: 0, starting: 0, reused: 0 }
  let stale: Entry[] = []
  try {
    for (let round = 1; round <= rounds; round += 1) {
      const orphans = await leakSome(2)
      const snapshot = node.entries()
      const of = (ids: Iterable<string>): Entry[] => {
        const wanted = new Set(ids)
        return snapshot.filter(({ owner }) => wanted.has(owner))
      }
      const starting = of(node.starting)
      const living = of(node.running.keys()).slice(0, 2)
      // Approved earlier, freed since by a late DEL, and by now often somebody else's.
      const reused = stale.filter(({ ip, owner }) => node.entry(ip)?.owner !== owner)
      const list = new Map(
        [...reused, ...starting, ...living, ...of(orphans)].map(entry => [entry.ip, entry]),
      )
      wrong = {
        living: wrong.living + living.length,
        starting: wrong.starting + starting.length,
        reused: wrong.reused + reused.length,
      }
      const report = readRemovalReport(await approve([...list.values()], round))
      expect(report.complete).toBe(true)
      const quarantined = node.ownersIn(report.quarantine)
      expect([...quarantined.keys()].sort()).toEqual(report.moved.toSorted())
      for (const [ip, owner] of quarantined) {
        if (node.alive.has(owner) || !node.leaked.has(owner))
          throw new Error(`round ${round}: ${ip} was taken from ${owner}`)
      }
      expect([...quarantined.values()].sort()).toEqual(orphans.toSorted())
      approvedOrphans += orphans.length
      expect(node.robbed()).toEqual([])
      const late = await leakSome(1)
      stale = node.entries().filter(({ owner }) => late.includes(owner))
      for (const id of late) await node.del(id)
    }
  } finally {
    await stop()
  }
  expect(node.robbed()).toEqual([])
  expect(approvedOrphans).toBeGreaterThan(rounds)
  // The harness did what it is for.
  expect(node.adds).toBeGreaterThan(rounds * 3)
  expect(node.dels).toBeGreaterThan(rounds)
  expect(wrong.living).toBeGreaterThan(rounds / 2)
  expect(wrong.starting).toBeGreaterThan(rounds / 4)
  expect(wrong.reused).toBeGreaterThan(rounds / 4)
}, 600_000)

test('the same race catches a script that takes the lock and compares ids with the listing only', async () => {
  const naive = join(node.root, 'naive.sh')
  writeFileSync(
    naive,
    `cd "$CNIBOT_NODE_ROOT${racingDir}" || exit 1
exec 9<lock
flock 9
crictl pods -q >"$CNIBOT_NODE_ROOT/naive.list"
for file in *.*.*.*; do
  id=$(head -n 1 "$file" | tr -d '\\r')
  grep -qxF "$id" "$CNIBOT_NODE_ROOT/naive.list" || rm -f "$file"
done
`,
  )
  const stop = churn(2)
  let robbed: string[] = []
  try {
    for (let round = 0; round < 100 && robbed.length === 0; round += 1) {
      await leakSome(1)
      const before = node.entries().filter(({ owner }) => node.starting.has(owner))
      await node.run(['dash', naive], '')
      robbed = before
        .filter(({ owner }) => node.alive.has(owner))
        .filter(({ ip, owner }) => node.entry(ip)?.owner !== owner && node.alive.has(owner))
        .map(({ ip }) => ip)
    }
  } finally {
    await stop()
  }
  expect(robbed.length).toBeGreaterThan(0)
})
