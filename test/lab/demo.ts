import { cpSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { parseArgs } from 'node:util'
import { movablePods, makeRoomInTheBudget, type Path } from './drain-story.js'
import { textOf, thread } from './driver.js'
import { liveAddresses, nextDay, repairByClicks, tellStory } from './play.js'
import type { Message } from './slack/index.js'
import { brokenNode, full, type Scale, small, type Teller, times } from './story.js'
import { startWorld, type World } from './world.js'

const began = performance.now()
const teller: Teller = {
  say: line => console.log(`${`${((performance.now() - began) / 1000).toFixed(1)} s`.padStart(8)}  ${line}`),
}

/** Of an edited card: how far a long step has come since. */
const progress = (text: string, before: string): string[] =>
  text.split('\n').filter(line => /^\u2003\d+ of \d+/.test(line) && !before.includes(line))

/** Prints each message of the thread when it is posted; edits are printed by their first line and their progress. */
const printThread = (world: World): (() => void) => {
  const seen = new Map<string, string>()
  const show = (message: Message): void => {
    const text = textOf(message)
    const before = seen.get(message.ts)
    if (before === text) return
    seen.set(message.ts, text)
    const indent = message.thread_ts === undefined ? '' : '    '
    const shown =
      before === undefined ? text : `(edited) ${[text.split('\n')[0], ...progress(text, before)].join('\n')}`
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
const play = async (world: World, { scale, path }: Wanted): Promise<boolean> => {
  const node = world.nodes.node(brokenNode)
  const before = node.allocations()
  const leaked = node.orphans()
  const moving = movablePods(world)
  await repairByClicks(world, teller, path)
  const after = node.allocations()
  const kept = new Map(after.map(a => [a.address, a.owner]))
  // Of sandboxes that live now: those of Pods that moved away gave theirs back themselves.
  const touched = [...liveAddresses(world)].filter(([address, owner]) => kept.get(address) !== owner).length
  const removed = leaked.filter(({ address, owner }) => kept.get(address) !== owner).length
  const stayed = movablePods(world)
  const moved = [...moving].filter(uid => !stayed.has(uid)).length
  await nextDay(world, teller)
  // The head alone says that the incident is over; other messages speak of it beforehand.
  const recounted = textOf(thread(world)[0] ?? { text: '' }).startsWith('🟢')
  const orphans = node.orphans().length
  console.log(
    `\naddresses on ${brokenNode}: ${before.length} before, ${after.length} after, without a sandbox now: ${orphans}`,
  )
  console.log(`removed: ${removed}`)
  if (path === 'drain') console.log(`Pods moved: ${moved} of ${moving.size}`)
  console.log(`live addresses touched: ${touched}`)
  console.log(`DaemonSet platform/node-exporter: ${rollout(world)}`)
  console.log(`re-count a day later: ${recounted ? 'done, matched' : 'not proven'}`)
  const everywhere = rollout(world) === `${scale.nodes.length} of ${scale.nodes.length}`
  const asChosen = path === 'drain' ? moved === moving.size && moved > 0 : moved === 0
  return touched === 0 && removed > 0 && orphans === 0 && asChosen && everywhere && recounted
}

const interactive = async (world: World, path: Path): Promise<void> => {
  console.log(`\nOpen ${world.slack.pageUrl}\n`)
  console.log('You are "approver"; switch to "viewer" on the page to see a refusal.')
  console.log('Press Enter here to let a day pass (for the re-count), Ctrl-C to end.\n')
  createInterface({ input: process.stdin }).on('line', () => {
    world.clock.advance(24 * 3_600_000 + 60_000)
    teller.say('a day passes')
  })
  if (path === 'drain') await makeRoomInTheBudget(world, teller, 24 * 3_600_000)
  await new Promise<never>(() => {})
}

const usage =
  'usage: npm run demo -- [--play] [--path reconcile|drain] [--small] [--port PORT]   --path: the repair that is chosen; --small: 4 nodes, not 18; PORT: of the page'

interface Wanted {
  playing: boolean
  path: Path
  scale: Scale
  port: number
}

const read = (): Wanted => {
  try {
    const { values } = parseArgs({
      options: {
        play: { type: 'boolean', default: false },
        path: { type: 'string', default: 'reconcile' },
        small: { type: 'boolean', default: false },
        port: { type: 'string', default: '0' },
      },
    })
    if (!/^\d{1,5}$/.test(values.port) || Number(values.port) > 65_535)
      throw new Error(`--port ${values.port} is no port`)
    if (values.path !== 'reconcile' && values.path !== 'drain')
      throw new Error(`--path ${values.path} is neither reconcile nor drain`)
    return {
      playing: values.play,
      path: values.path,
      scale: values.small ? small : full,
      port: Number(values.port),
    }
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}\n${usage}`)
    process.exit(2)
  }
}

/** The whole demo in a world that is there; resolves with the exit code, and never while a person looks around. */
const tell = async (world: World, wanted: Wanted): Promise<number> => {
  const { playing, scale, path } = wanted
  try {
    console.log(`The page of the local Slack: ${world.slack.pageUrl}`)
    await tellStory(world, teller, scale, path)
    if (playing) return (await play(world, wanted)) ? 0 : 1
    await interactive(world, path)
    return 0
  } catch (error) {
    if (stopping) return 1
    const logs = mkdtempSync(join(tmpdir(), 'cnibot-demo-logs-'))
    cpSync(join(world.dir, 'logs'), logs, { recursive: true })
    console.error(`\nthe story stopped: ${error instanceof Error ? error.message : String(error)}`)
    console.error(`logs: ${logs}`)
    return 1
  }
}

// A terminal that was closed takes no more lines.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined)

let stopping = false
/** Resolves at the first signal; more of them, of an impatient person or of npm, change nothing. */
const signal = new Promise<void>(resolve => {
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.on(name, () => {
      if (!stopping) console.log('\nstopping what was started …')
      stopping = true
      resolve()
    })
})

const main = async (): Promise<number> => {
  const wanted = read()
  const { playing, scale, port } = wanted
  const world = await startWorld({ start: times.loadTest - 600_000, nodes: scale.nodes, slackPort: port })
  const stopPrinting = printThread(world)
  try {
    // Ending it is how a person leaves the page; the story played by itself was not finished.
    const told = stopping ? 1 : tell(world, wanted)
    return await Promise.race([signal.then(() => (playing ? 130 : 0)), told])
  } finally {
    stopPrinting()
    await world.stop()
  }
}

main().then(
  code => process.exit(code),
  (error: unknown) => {
    if (!stopping) console.error(`could not start: ${error instanceof Error ? error.message : String(error)}`)
    process.exit(stopping ? 130 : 1)
  },
)
