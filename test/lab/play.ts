import { setTimeout as pause } from 'node:timers/promises'
import { guardedDatabase, makeRoomInTheBudget, type Path } from './drain-story.js'
import { buttonsOf, saying, textOf, thread } from './driver.js'
import type { Message } from './slack/index.js'
import { brokenNode, loadTest, type Scale, scenes, startWorkloads, type Teller, times } from './story.js'
import type { World } from './world.js'

/** Everything up to the fourth ticket: the node is full, the thread shows why. Bot and worker run from here on. */
export const tellStory = async (
  world: World,
  teller: Teller,
  scale: Scale,
  path: Path = 'reconcile',
): Promise<void> => {
  await loadTest(world, teller, scale)
  await startWorkloads(world, teller, scale, path === 'drain' ? guardedDatabase : undefined)
  await Promise.all([world.start('bot'), world.start('worker')])
  teller.say('bot and worker are running')
  for (const scene of scenes) {
    world.clock.jumpTo(scene.at)
    teller.say(scene.says)
    await scene.play(world)
    await saying(world, scene.shows)
  }
  await saying(world, /Evidence, Wed 10:5/)
  // The kubelet's tries of these minutes are made up for before anybody asks how many there were.
  world.clock.jumpTo(times.exporter.rolledOut + 14 * 60_000)
  await world.settled()
  world.clock.jumpTo(times.exporter.found)
  await world.settled()
  await saying(world, /17 of 18|3 of 4/)
  await saying(world, /Evidence, Wed 11:3/)
}

/** Whether the run waits for nobody any more: the head says what became of it. */
const over = (messages: Message[]): Message | undefined =>
  messages.find(m => /being watched|is resolved|needs a person/.test(textOf(m)))

/** Presses again while nobody answers, as a person does who sees Slack's warning sign: the bot may just be away. */
export const insist = async (world: World, ts: string, actionId: string): Promise<void> => {
  const deadline = performance.now() + 120_000
  for (;;) {
    if (world.slack.connections() > 0) {
      const outcome = await world.slack.press({ user: 'approver', channel: world.channel, ts, actionId })
      if (outcome.acked) return
    }
    if (performance.now() > deadline) throw new Error(`nobody answered ${actionId} for a minute`)
    await pause(100)
  }
}

const openers = { reconcile: 'reconcile in place', drain: 'drain, then clear' }

/** The approver opens a repair, reads every plan and approves it, until the run has ended. */
export const repairByClicks = async (
  world: World,
  teller: Teller,
  path: Path = 'reconcile',
): Promise<void> => {
  await openRepair(world, teller, path)
  await Promise.all([
    approveAll(world, teller),
    ...(path === 'drain' ? [makeRoomInTheBudget(world, teller)] : []),
  ])
}

const withButton = (world: World, actionId: string, says = /./): Promise<Message> =>
  world.slack.waitFor(
    () =>
      thread(world).find(
        m => says.test(textOf(m)) && buttonsOf(m).some(b => String(b.action_id) === actionId),
      ),
    60_000,
    `the button ${actionId}`,
  )

const openRepair = async (world: World, { say }: Teller, path: Path): Promise<void> => {
  const actionId = `cnibot:${path}`
  await compareFirst(world, say)
  const chosen = await withButton(world, actionId, comparison)
  await insist(world, chosen.ts, actionId)
  say(`approver clicks: ${openers[path]}`)
}

const comparison = /^\*Compare repairs/

/** Both repairs are looked at side by side; the choice is made on that card. */
const compareFirst = async (world: World, say: Teller['say']): Promise<void> => {
  const head = await withButton(world, 'cnibot:compare')
  await insist(world, head.ts, 'cnibot:compare')
  say('approver clicks: compare repairs')
  await saying(world, comparison)
}

const approveAll = async (world: World, { say }: Teller): Promise<void> => {
  const done = new Set<string>()
  for (let clicks = 0; clicks < 15; clicks++) {
    const next = await world.slack.waitFor(
      () => {
        const messages = thread(world)
        const waiting = messages.find(
          m => !done.has(m.ts) && buttonsOf(m).some(b => /^cnibot:(approve|tick)$/.test(String(b.action_id))),
        )
        const paused = messages.find(m => buttonsOf(m).some(b => b.action_id === 'cnibot:retry'))
        return paused ?? waiting ?? over(messages)
      },
      240_000,
      'the next plan, or the end of the run',
    )
    const actions = buttonsOf(next).map(b => String(b.action_id).replace('cnibot:', ''))
    if (actions.includes('retry')) throw new Error(`the run stopped: ${textOf(next)}`)
    const action = actions.find(a => a === 'approve' || a === 'tick')
    if (!action || done.has(next.ts)) return
    done.add(next.ts)
    say(`approver reads and clicks ${action}: ${textOf(next).split('\n')[0]}`)
    await insist(world, next.ts, `cnibot:${action}`)
  }
  throw new Error('fifteen approvals and no end')
}

export interface Outcome {
  before: number
  after: number
  removed: number
  liveTouched: number
  rollout: string
  recounted: boolean
}

/** Addresses of sandboxes that live, straight from the node's store and the runtime's memory; nothing the bot said. */
export const liveAddresses = (world: World): Map<string, string> => {
  const live = new Map<string, string>()
  for (const sandbox of world.nodes.node(brokenNode).sandboxes())
    if (sandbox.network && !sandbox.released) live.set(sandbox.network.address, sandbox.id)
  return live
}

export const nextDay = async (world: World, { say }: Teller): Promise<void> => {
  world.clock.advance(24 * 3_600_000 + 120_000)
  say('a day passes')
  await saying(world, /^🟢 |Opened again|eopened/)
}
