import { readdirSync } from 'node:fs'
import { isIPv4 } from 'node:net'
import { basename, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { buttonsOf, saying, textOf, thread } from '../lab/driver.js'
import { liveAddresses, nextDay, repairByClicks, tellStory } from '../lab/play.js'
import { brokenNode, small } from '../lab/story.js'
import type { World } from '../lab/world.js'
import { asRequest, byAddress, command, diagnosed, newest, openWorld, quiet } from './lab.js'
import { cardRows, evidenceRows } from './rows.js'

let world: World
let evidence = ''
let orphans: string[] = []
let live = new Map<string, string>()

const store = (): string[] =>
  readdirSync(join(world.nodes.node(brokenNode).root, 'var/lib/cni/networks/k8s-pod-network'))

const nodeObject = () => world.api.store.get('nodes', undefined, brokenNode)

const heads = () =>
  world.slack.messages(world.channel).filter(m => /^incident /m.test(textOf(m)) && m.thread_ts === undefined)

beforeAll(async () => {
  world = await openWorld(small.nodes)
  await tellStory(world, quiet, small)
  evidence = newest(world, /^\*Evidence, /)
  orphans = world.nodes
    .node(brokenNode)
    .orphans()
    .map(a => a.address)
  live = liveAddresses(world)
}, 600_000)
afterAll(() => world?.stop(), 120_000)

describe('what the thread tells before anybody acts', () => {
  test('C3: one incident and one thread for the node, with the tickets in order of time', () => {
    expect(heads()).toHaveLength(1)
    const lines = newest(world, /^\*Tickets on node-07\*/).split('\n')
    expect(lines.slice(1, 5)).toEqual([
      expect.stringMatching(/^1\. Tue 10:09 · payments\/api \(Deployment\) · waited 31 min, deleted/),
      expect.stringMatching(/^2\. Tue 16:03 · search\/query \(Deployment\) · waited 12 min, deleted/),
      expect.stringMatching(/^3\. Wed 08:43 · batch\/nightly-ledger \(Job\) · waited 22 min, deleted/),
      expect.stringMatching(/^4\. Wed 10:50 · platform\/node-exporter \(DaemonSet\)/),
    ])
    expect(lines[1]).toMatch(/its replacement started on node-04/)
    expect(lines.at(-1)).toBe(
      'Moving a Pod helped 3 of these and repaired nothing. All 4 were on this node. 1 ticket still open.',
    )
  })

  test('C1: Pods stuck in ContainerCreating became tickets, the moved ones did not close the incident', () => {
    const head = textOf(thread(world)[0]!)
    expect(head).toMatch(/^🔴 \*node-07 cannot give new Pods an address\* · prod-eu1/)
    expect(head).toMatch(/4 tickets in 2[45] h.*1 still stuck/)
    expect(head).toContain('253 of 253 addresses taken: 243 by sandboxes that no longer exist, 10 by living')
    expect(head).toMatch(/Waiting for an approver/)
  })

  test('C2: the rollout stuck at N-1 names the node that lacks its Pod', () => {
    expect(newest(world, /^\*Tickets on/)).toMatch(/\*3 of 4\*, still stuck: a DaemonSet cannot move/)
    expect(evidence).toMatch(/platform\/node-exporter \*3 of 4\*, missing only here/)
  })

  test('C4: one bundle holds conditions, both counts, the DEL lines, and a file with all of it', () => {
    expect(evidence).toMatch(/^\*Evidence, Wed 11:3\d:\d\d\* · one read-only connection, /)
    for (const label of ['Addresses', 'Sandboxes', 'Conditions', 'DEL failures'])
      expect(evidence).toMatch(new RegExp(`^\\*${label}:\\*`, 'm'))
    const file = world.slack.files().find(({ file: { name } }) => name.startsWith('node-07-evidence'))
    expect(file?.content).toContain('== What ran on the node\ntimeout -k 5 120 /bin/sh -s --\n')
    expect(file?.content.match(/ {2}without a sandbox/g)).toHaveLength(243)
  })

  // One row of the requirements each; the words are what a person reads in the thread.
  test.each(evidenceRows)('%s: the bundle shows %s', (_id, _what, shows) => {
    for (const words of shows) expect(evidence).toMatch(words)
  })

  test('P-E3: the numbers are those of the folder itself', () => {
    expect(store()).toHaveLength(255)
    expect(world.nodes.node(brokenNode).allocations()).toHaveLength(253)
    expect(orphans).toHaveLength(243)
  })

  test('P-A6: nothing offers a restart, and the verdict says why not', () => {
    const verdict = newest(world, /^\*243 addresses leaked on node-07, none left\* · sure/)
    expect(verdict).toMatch(/\*Do not\* restart the kubelet or the runtime: that frees no address/)
    expect(verdict).toMatch(/\*Possible cause:\* Teardown was lost when containerd restarted/)
    expect(verdict).toMatch(/\*Next:\* Cordon node-07, then give the 243 back in place/)
    const buttons = thread(world)
      .flatMap(buttonsOf)
      .map(({ text }) => text)
    const named = ['Cordon node-07', 'Compare repairs', 'Hold', 'Escalate']
    expect(buttons).toEqual(named.map(text => expect.objectContaining({ text })))
  })
})

describe('C7: /cni', () => {
  test('diagnose on the broken node: the same trouble and a link to its thread', async () => {
    const answer = await diagnosed(world, brokenNode)
    expect(answer.first).toMatch(/\*node-07\*: 243 addresses leaked on node-07, none left\. 253 of 253/)
    expect(answer.first).toMatch(/Its incident: <http.*\|thread of node-07>/)
    expect(answer.evidence).toMatch(/\*243 without a sandbox\*/)
    expect(answer.verdict).toMatch(/leaked on node-07/)
    expect(heads()).toHaveLength(1)
  })

  test('diagnose on a healthy node: one line that is enough, the evidence folded', async () => {
    const answer = await diagnosed(world, 'node-11')
    expect(answer.first).toMatch(
      /^\*node-11\* can give new Pods an address: \d+ of 253 addresses taken, none without a sandbox\./,
    )
    expect(answer.evidence).toMatch(/\*0 without a sandbox\*/)
    expect(answer.file).toContain('== Addresses\n10.244.11.')
  })

  test('an unknown node, status, help, and anything else', async () => {
    expect(await command(world, 'diagnose node-7')).toMatch(
      /^No node `node-7`\. Did you mean \*node-07\*\? Nodes: node-04, node-07, node-11, node-15\.$/,
    )
    expect(await command(world, 'status')).toMatch(
      /1 open incident\.\n\*node-07\* diagnosed · since Tue 10:09/,
    )
    const help = await command(world, 'help')
    for (const each of ['/cni diagnose', '/cni status', '/cni help']) expect(help).toContain(each)
    expect(await command(world, 'frobnicate')).toMatch(/^`frobnicate` is no command of \/cni\.\n`\/cni diag/)
    expect(await command(world, '')).toBe(help)
  })
})

describe('the repair by clicks', () => {
  let commandsBefore = 0
  let auditBefore = 0

  beforeAll(async () => {
    commandsBefore = world.nodes.node(brokenNode).commands().length
    auditBefore = world.api.audit.length
    await repairByClicks(world, quiet)
    // The head is drawn first, the card after it.
    await saying(world, /\*Ended [\d:]+\*, completed: every step and every check/)
  }, 600_000)

  const card = (): string =>
    newest(world, /^\*Give leaked addresses back without moving workloads · node-07\*/)
  const removal = (): string => newest(world, /^\*Approve: Remove 243 addresses on node-07\*/)

  test('C5: every change has its plan in the thread and the name of who approved it', () => {
    const plans = thread(world)
      .map(textOf)
      .filter(text => /^\*(Approve|Confirm): /.test(text))
    expect(plans.map(text => text.split('\n')[0])).toEqual([
      '*Confirm: the prerequisites*',
      '*Approve: Cordon node-07*',
      '*Approve: Remove 243 addresses on node-07*',
      '*Approve: Test Pod on node-07*',
      '*Approve: Uncordon node-07*',
      '*Approve: Test Pod on node-07 through the scheduler*',
    ])
    for (const text of plans) {
      expect(text).toMatch(/(Approved|Confirmed) by <@UAPPROVER> 11:\d\d:\d\d\. Done 11:/)
      expect(text).toMatch(/plan `[0-9a-f]{4}·[0-9a-f]{4}`/)
    }
    expect(
      thread(world)
        .flatMap(buttonsOf)
        .map(b => b.action_id),
    ).toEqual(['cnibot:escalate'])
  })

  test('P-A3: exactly the orphans were listed, removed and kept in quarantine, and no living address', () => {
    const listed = world.slack.files().find(({ file: { name } }) => name.startsWith('node-07-plan-'))
    const rows = listed?.content.split('== Addresses to remove (243)\n')[1]?.split('\n\n')[0]?.split('\n')
    expect(rows?.map(row => row.split(' ')[0])).toEqual(orphans.toSorted(byAddress))
    expect(removal()).toMatch(/Done 11:\d\d:\d\d: 243 moved, 0 skipped/)
    const kept = join(world.nodes.node(brokenNode).root, 'var/lib/cni/cnibot-quarantine')
    const files = readdirSync(kept, { recursive: true, encoding: 'utf8' }).map(name => basename(name))
    expect(files.filter(name => isIPv4(name)).toSorted(byAddress)).toEqual(orphans.toSorted(byAddress))
    const now = new Map(
      world.nodes
        .node(brokenNode)
        .allocations()
        .map(a => [a.address, a.owner]),
    )
    expect([...live].filter(([address, owner]) => now.get(address) !== owner)).toEqual([])
    expect(live.size).toBe(10)
  })

  test('must-show 7: the thread shows every command exactly as the node was asked to run it', () => {
    const ran = world.nodes.node(brokenNode).commands()
    const changes = ran
      .slice(commandsBefore)
      .filter(line => !line.startsWith('timeout -k 5 120 /bin/sh -s --'))
    const [, shown] = /Runs for node-07, exactly so:\n(.+)\n/.exec(removal()) ?? []
    expect(changes).toEqual([shown])
    expect(changes[0]).toMatch(/^timeout -k 5 120 sudo -n \S+\/remove-orphans remove --network-dir /)
    expect(new Set(ran.filter(line => line !== shown))).toEqual(
      new Set(['timeout -k 5 120 /bin/sh -s --', 'timeout -k 5 120 /bin/sh -s -- --light']),
    )
    const evidenceFiles = world.slack.files().filter(({ file: { name } }) => name.includes('-evidence'))
    for (const { content } of evidenceFiles)
      expect(ran).toContain(/== What ran on the node\n(.+)\n/.exec(content)?.[1])
    expect(evidenceFiles.length).toBeGreaterThan(2)
  })

  test('must-show 7: every change of the cluster was shown, and nothing else was changed', () => {
    const writes = world.api.audit
      .slice(auditBefore)
      .filter(({ verb }) => ['create', 'update', 'patch', 'delete'].includes(verb))
    expect(new Set(writes.map(({ user }) => user))).toEqual(new Set(['worker']))
    const shown = thread(world)
      .map(textOf)
      .flatMap(text => text.match(/^(PATCH|POST|DELETE) \S+/gm) ?? [])
    expect(writes.map(asRequest)).toEqual(shown)
    expect(shown).toHaveLength(6)
  })

  test.each(cardRows)('%s: the run card shows that %s', (_id, _what, shows) => {
    expect(card()).toMatch(shows)
  })

  test('P-A7, P-V1: the node itself agrees with the card', () => {
    const node = world.nodes.node(brokenNode)
    expect(node.orphans()).toEqual([])
    expect(nodeObject()?.spec?.unschedulable).toBeUndefined()
    expect(world.api.store.list('pods', 'cnibot')).toEqual([])
    const head = textOf(thread(world)[0]!)
    expect(head).toMatch(/^🟡 \*node-07 repaired, being watched\* · prod-eu1\n243 moved, 0 skipped/)
    expect(head).toMatch(/Counted again Thu 11:3\d; then this is resolved or opened again\./)
  })

  test('the worker has told Prometheus of the run and of each step, once', async () => {
    const health = await world.running('worker')?.ready
    const metrics = await (await fetch(`${health}/metrics`)).text()
    expect(metrics.match(/^cnibot_runs_total.*/gm)).toEqual(['cnibot_runs_total{outcome="completed"} 1'])
    expect(metrics).toContain('cnibot_steps_total{kind="remove-orphans",outcome="done"} 1')
    expect(metrics).toContain('cnibot_steps_total{kind="test-pod",outcome="done"} 2')
    expect(metrics).not.toMatch(/^cnibot_(steps_total.*"failed"|jobs_given_up_total)/m)
  })

  test('P-V7: a day later the node is counted again in the same thread, and the incident is resolved', async () => {
    await nextDay(world, quiet)
    const recount = await saying(world, /^\*Counted again/)
    expect(textOf(recount)).toMatch(/resolved/)
    expect(textOf(thread(world)[0]!)).toMatch(/^🟢 \*node-07 resolved\* · prod-eu1\n243 moved, 0 skipped/)
    expect(heads()).toHaveLength(1)
  }, 600_000)
})
