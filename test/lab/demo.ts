import { createInterface } from 'node:readline'
import { parseArgs } from 'node:util'
import { textOf, thread } from './driver.js'
import { liveAddresses, nextDay, repairByClicks, tellStory } from './play.js'
import type { Message } from './slack/index.js'
import { brokenNode, full, type Teller, times } from './story.js'
import { startWorld, type World } from './world.js'

const began = performance.now()
const teller: Teller = {
  say: line => console.log(`${`${((performance.now() - began) / 1000).toFixed(1)} s`.padStart(8)}  ${line}`),
}

/** Prints each message of the thread when it is posted; edits are printed by their first line. */
const printThread = (world: World): (() => void) => {
  const seen = new Map<string, string>()
  const show = (message: Message): void => {
    const text = textOf(message)
    const before = seen.get(message.ts)
    if (before === text) return
    seen.set(message.ts, text)
    const indent = message.thread_ts === undefined ? '' : '    '
    const shown = before === undefined ? text : `(edited) ${text.split('\n')[0]}`
    console.log(
      shown
        .split('\n')
        .map(line => `          │ ${indent}${line}`)
        .join('\n'),
    )
  }
  const timer = setInterval(() => {
    for (const message of thread(world)) show(message)
  }, 300)
  return () => clearInterval(timer)
}

const rollout = (world: World): string => {
  const status = world.api.store.get('daemonsets', 'platform', 'node-exporter')?.status ?? {}
  return `${Number(status.numberReady)} of ${Number(status.desiredNumberScheduled)}`
}

/** Plays the whole story by itself; true only when the node was repaired and proven. */
const play = async (world: World): Promise<boolean> => {
  const node = world.nodes.node(brokenNode)
  const before = node.allocations()
  const live = liveAddresses(world)
  await repairByClicks(world, teller)
  const after = node.allocations()
  const kept = new Map(after.map(a => [a.address, a.owner]))
  const touched = [...live].filter(([address, owner]) => kept.get(address) !== owner).length
  const removed = before.filter(a => !after.some(b => b.address === a.address && b.owner === a.owner)).length
  await nextDay(world, teller)
  // The head alone says that the incident is over; other messages speak of it beforehand.
  const recounted = textOf(thread(world)[0] ?? { text: '' }).startsWith('🟢')
  const orphans = node.orphans().length
  console.log(
    `\naddresses on ${brokenNode}: ${before.length} before, ${after.length} after, without a sandbox now: ${orphans}`,
  )
  console.log(`removed: ${removed}`)
  console.log(`live addresses touched: ${touched}`)
  console.log(`DaemonSet platform/node-exporter: ${rollout(world)}`)
  console.log(`re-count a day later: ${recounted ? 'done, matched' : 'not proven'}`)
  return touched === 0 && removed > 0 && orphans === 0 && rollout(world) === '18 of 18' && recounted
}

const interactive = async (world: World): Promise<void> => {
  console.log(`\nOpen ${world.slack.pageUrl}\n`)
  console.log('You are "approver"; switch to "viewer" on the page to see a refusal.')
  console.log('Press Enter here to let a day pass (for the re-count), Ctrl-C to end.\n')
  createInterface({ input: process.stdin }).on('line', () => {
    world.clock.advance(24 * 3_600_000 + 60_000)
    teller.say('a day passes')
  })
  await new Promise<void>(resolve => {
    process.once('SIGINT', resolve)
    process.once('SIGTERM', resolve)
  })
}

const main = async (): Promise<number> => {
  const { values } = parseArgs({
    options: { play: { type: 'boolean', default: false }, port: { type: 'string' } },
  })
  const world = await startWorld({
    start: times.loadTest - 600_000,
    nodes: full.nodes,
    slackPort: values.port ? Number(values.port) : 0,
  })
  const stopPrinting = printThread(world)
  const stop = async (): Promise<void> => {
    stopPrinting()
    await world.stop()
  }
  const onSignal = (): void => void stop().then(() => process.exit(130))
  process.once('SIGINT', onSignal)
  process.once('SIGTERM', onSignal)
  try {
    console.log(`The page of the local Slack: ${world.slack.pageUrl}`)
    await tellStory(world, teller, full)
    if (values.play) return (await play(world)) ? 0 : 1
    process.removeListener('SIGINT', onSignal)
    process.removeListener('SIGTERM', onSignal)
    await interactive(world)
    return 0
  } catch (error) {
    console.error(`\nthe story stopped: ${error instanceof Error ? error.message : String(error)}`)
    console.error(`logs: ${world.dir}/logs`)
    return 1
  } finally {
    await stop()
  }
}

process.exitCode = await main()
