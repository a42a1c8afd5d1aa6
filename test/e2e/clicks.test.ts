import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { buttonsOf, press, saying, textOf, thread } from '../lab/driver.js'
import { liveAddresses } from '../lab/play.js'
import type { Message } from '../lab/slack/index.js'
import { brokenNode, small } from '../lab/story.js'
import type { World } from '../lab/world.js'
import { command, openWorld, toldOnly, untilAsked } from './lab.js'

let world: World
let live = new Map<string, string>()
/** The plan that was read last; it may be outdated by now. */
let plan: Message & { value: string }

const node = () => world.nodes.node(brokenNode)
const unschedulable = () => world.api.store.get('nodes', undefined, brokenNode)?.spec?.unschedulable === true
const removals = () =>
  node()
    .commands()
    .filter(line => line.includes('remove-orphans'))

/** Without their attached lists, which follow a moment later. */
const plansShown = (): number => thread(world).filter(m => /^\*(Approve|Confirm): /.test(textOf(m))).length

/** The one plan that can be approved now, when it is not one of those seen before. */
const waitingPlan = (not: readonly string[] = []): Promise<Message & { value: string }> =>
  world.slack.waitFor(
    () => {
      const found = thread(world).findLast(m =>
        buttonsOf(m).some(b => /^cnibot:(approve|tick)$/.test(String(b.action_id))),
      )
      const button = found && buttonsOf(found).find(b => /:(approve|tick)$/.test(String(b.action_id)))
      const value = String(button?.value)
      return found && !not.includes(value) && { ...found, value }
    },
    60_000,
    'a plan that waits for approval',
  )

const approve = (user: string, plan: { ts: string; value: string }) =>
  world.slack.press({
    user,
    channel: world.channel,
    ts: plan.ts,
    actionId: 'cnibot:approve',
    value: plan.value,
  })

/** Waits until one of the two approvers is told, alone, that the other was first. */
const oneTold = (says: (other: string) => RegExp): Promise<string> =>
  world.slack.waitFor(
    slack => {
      const to = (user: string, other: string) =>
        slack
          .ephemerals(user)
          .map(textOf)
          .find(text => says(other).test(text))
      return to('approver', 'UCOLLEAGUE') ?? to('colleague', 'UAPPROVER')
    },
    20_000,
    'a sentence for whoever came second',
  )

const heard = (user: string): number => world.slack.ephemerals(user).length

beforeAll(async () => {
  world = await openWorld(small.nodes)
  await untilAsked(world)
  live = liveAddresses(world)
}, 600_000)
afterAll(() => world?.stop(), 120_000)

test('P-A1: the node is cordoned at once, after a person approved the plan for it', async () => {
  await press(world, 'approver', 'cordon')
  const plan = await waitingPlan()
  expect(textOf(plan)).toMatch(/^\*Approve: Cordon node-07\*\nnode-07 · low risk/)
  expect(unschedulable()).toBe(false)
  await approve('approver', plan)
  await saying(world, /Cordoned (Tue )?10:\d\d\. \*Waiting for an approver\*/)
  expect(unschedulable()).toBe(true)
  expect(world.api.store.get('nodes', undefined, brokenNode)?.metadata.annotations).toMatchObject({
    'cnibot.io/cordoned-by': 'prod-eu1/node-07.1',
  })
}, 600_000)

test('P-A2: both repairs of this node stand on one card, from one look, before either starts', async () => {
  await press(world, 'viewer', 'compare')
  const card = await saying(world, /^\*Compare repairs · node-07\*/)
  const text = textOf(card)
  expect(text).toMatch(/^Pods that move {2}none {2}\d+, \d+ stay$/m)
  expect(text).toMatch(/^addresses given back {2}243 {2}243$/m)
  expect(text).toMatch(/^takes about {2}no past run here {2}no past run here$/m)
  expect(text).toMatch(/\*Would move:\* [a-z-]+\//)
  expect(buttonsOf(card).map(b => b.action_id)).toEqual(
    ['reconcile', 'drain', 'hold'].map(action => `cnibot:${action}`),
  )
  expect(world.api.audit.filter(({ subresource }) => subresource === 'eviction')).toEqual([])
}, 600_000)

test('B9: while changes are paused the head says by whom and why, offers no repair, and resume lets it go on', async () => {
  expect(await command(world, 'pause', 'viewer')).toMatch(/not on the approver list/)
  await world.slack.command({ user: 'approver', channel: world.channel, text: '/cni pause a rebuild' })
  const head = await saying(world, /\*Changes are paused\* by <@UAPPROVER> since .*: a rebuild\./)
  expect(buttonsOf(head).map(b => b.action_id)).not.toContain('cnibot:cordon')
  await saying(world, /^\*Compare repairs[\s\S]*Changes are paused, so no repair can be chosen now/)
  await world.slack.command({ user: 'approver', channel: world.channel, text: '/cni resume' })
  await saying(world, /\*Waiting for an approver\* .*choose a repair/)
}, 600_000)

test('must-show 8: of two clicks at the same moment one opens a run, the other is told who was first', async () => {
  const actionId = 'cnibot:reconcile'
  const card = await world.slack.waitFor(
    () => thread(world).find(m => buttonsOf(m).some(b => b.action_id === actionId)),
    60_000,
    'the card with its buttons back',
  )
  const click = (user: string) => world.slack.press({ user, channel: world.channel, ts: card.ts, actionId })
  await Promise.all([click('approver'), click('colleague')])
  expect(await oneTold(name => new RegExp(`^<@${name}> was first, \\d+ s before you`))).toMatch(
    /plan is below/,
  )
  const tick = await waitingPlan()
  expect(textOf(tick)).toMatch(/^\*Confirm: the prerequisites\*/)
  expect(thread(world).filter(m => textOf(m).startsWith('*Give leaked addresses back'))).toHaveLength(1)
  await press(world, 'approver', 'tick')
  plan = await waitingPlan([tick.value])
})

test('C5: somebody who is not on the list is refused, visibly to them alone, and nothing happens', async () => {
  expect(textOf(plan)).toMatch(/^\*Approve: Remove 243 addresses on node-07\*/)
  const before = plansShown()
  await approve('viewer', plan)
  expect(await toldOnly(world, 'viewer', /approver list for/)).toMatch(
    /^You are not on the approver list for \*medium\* steps\. <!subteam\^SSREONCALL> may approve\.$/,
  )
  expect(plansShown()).toBe(before)
  expect(removals()).toEqual([])
  expect((await waitingPlan()).value).toBe(plan.value)
})

test('an expired plan is not carried out: it is planned again and says so', async () => {
  world.clock.advance(31 * 60_000)
  await approve('approver', plan)
  const again = await waitingPlan([plan.value])
  expect(textOf(again)).toMatch(/Planned again: .*expired/)
  expect(removals()).toEqual([])
  const old = thread(world).find(m => m.ts === plan.ts)
  expect(old && buttonsOf(old)).toEqual([])
})

test('an outdated plan is refused with a word about the newer one', async () => {
  const before = heard('colleague')
  await approve('colleague', plan)
  expect(await toldOnly(world, 'colleague', /outdated/, before)).toBe(
    'This plan is outdated: a newer one is below.',
  )
  expect(removals()).toEqual([])
})

test('an approved plan is not carried out on a node that has changed since', async () => {
  plan = await waitingPlan([plan.value])
  node().restartRuntime()
  await approve('approver', plan)
  const card = await saying(world, /✗ \*Remove 243 addresses on node-07\*/)
  expect(textOf(card)).toMatch(/has changed since the plan: .*restarted/)
  expect(textOf(card)).toMatch(/\*Tried:\* Remove 243 addresses on node-07\. Nothing was done\./)
  expect(buttonsOf(card).map(b => b.action_id)).toEqual(
    ['retry', 'hold', 'escalate'].map(action => `cnibot:${action}`),
  )
  expect(removals()).toEqual([])
  await press(world, 'approver', 'retry')
  plan = await waitingPlan([plan.value])
})

test('sudo refused on the node: the run says so in one line, and nothing was removed', async () => {
  node().switches.sudoRefused(true)
  await approve('approver', plan)
  await saying(world, /✗ \*Remove 243 addresses on node-07\*.*sudo: a password is required/)
  expect(node().orphans()).toHaveLength(243)
  node().switches.sudoRefused(false)
  await press(world, 'approver', 'retry')
  plan = await waitingPlan([plan.value])
})

test('must-show 8: two approvals at the same moment are one removal, and the second hears who was first', async () => {
  await Promise.all([approve('colleague', plan), approve('approver', plan)])
  const late = await oneTold(name => new RegExp(`^<@${name}> approved this \\d+ s before you`))
  expect(late).toMatch(/It is running\.$/)
  await saying(world, /✓ addresses match sandboxes .*: (\d+) = \1/)
  await saying(world, /✓ Remove 243 addresses on node-07 .*243 moved, 0 skipped/)
  expect(node().orphans()).toEqual([])
  const owners = new Map(
    node()
      .allocations()
      .map(a => [a.address, a.owner]),
  )
  expect([...live].filter(([address, owner]) => owners.get(address) !== owner)).toEqual([])
}, 600_000)

const bot = async (): Promise<void> => {
  await world.start('bot')
}
const testPods = () =>
  world.api.audit.filter(
    ({ verb, resource, namespace }) => `${verb} ${resource} ${namespace}` === 'create pods cnibot',
  )

test('must-show 6: a click while the bot is down reaches nobody, Slack tells the person, and the plan still waits', async () => {
  plan = await waitingPlan([plan.value])
  expect(textOf(plan)).toMatch(/^\*Approve: Test Pod on node-07/)
  await world.running('bot')?.kill('SIGKILL')
  expect(await approve('approver', plan)).toMatchObject({ acked: false, error: 'dispatch_failed' })
  await bot()
  expect((await waitingPlan()).value).toBe(plan.value)
  expect(testPods()).toEqual([])
}, 600_000)

test('must-show 6: a click that the bot dies of, delivered again to the letter, and once more when all is done: it runs once', async () => {
  const pressed = approve('approver', plan)
  await world.running('bot')?.kill('SIGKILL')
  await pressed
  await bot()
  expect((await world.slack.faults.replay()).acked).toBe(true)
  await saying(world, /✓ Test Pod on node-07/)
  const again = await waitingPlan([plan.value])
  expect(textOf(again)).toMatch(/^\*Approve: Uncordon node-07/)
  const before = plansShown()
  expect((await world.slack.faults.replay()).acked).toBe(true)
  await world.running('bot')?.kill('SIGTERM')
  await bot()
  expect((await world.slack.faults.replay()).acked).toBe(true)
  expect((await waitingPlan()).value).toBe(again.value)
  expect(plansShown()).toBe(before)
  expect(testPods()).toHaveLength(1)
}, 600_000)

test('P-A1: hold, cordoned, is an end of its own, and the status says whose it is', async () => {
  await waitingPlan()
  const before = heard('viewer')
  await press(world, 'viewer', 'hold')
  expect(await toldOnly(world, 'viewer', /approver list/, before)).toMatch(/may decide this/)
  await press(world, 'approver', 'hold')
  const head = await saying(world, /held on purpose\* · prod-eu1/)
  expect(textOf(head)).toMatch(/Held by <@UAPPROVER>.*; node-07 stays cordoned until/)
  expect(unschedulable()).toBe(true)
  const status = await command(world, 'status')
  expect(status).toMatch(/\*node-07\* holding by <@UAPPROVER> since .* · cordoned/)
})
