import type { AuditEntry } from '../lab/api/index.js'
import { saying, textOf, thread } from '../lab/driver.js'
import type { Message } from '../lab/slack/index.js'
import { loadTest, scenes, small, startWorkloads, times } from '../lab/story.js'
import { startWorld, type World } from '../lab/world.js'
import { builtProgram } from './built.js'

export const quiet = { say: () => undefined }

export const openWorld = (nodes: string[]): Promise<World> =>
  startWorld({ start: times.loadTest - 600_000, nodes, cli: builtProgram() })

/** The node is full, its first Pod is stuck, and an approver is asked. Bot and worker run. */
export const untilAsked = async (world: World): Promise<void> => {
  await loadTest(world, quiet, small)
  await startWorkloads(world, quiet, small)
  await Promise.all([world.start('bot'), world.start('worker')])
  const [first] = scenes
  world.clock.jumpTo(first!.at)
  await first!.play(world)
  await saying(world, 'Waiting for an approver')
}

/** What the person who typed `/cni …` sees at once; nobody else does. */
export const command = async (world: World, text: string, user = 'viewer'): Promise<string> => {
  const before = new Set(world.slack.ephemerals(user).map(m => m.ts))
  const outcome = await world.slack.command({ user, channel: world.channel, text: `/cni ${text}`.trim() })
  if (!outcome.acked) throw new Error(`/cni ${text} was not acknowledged: ${outcome.error}`)
  const shown = world.slack.ephemerals(user).find(m => !before.has(m.ts))
  return shown ? textOf(shown) : ''
}

export interface NodeAnswer {
  first: string
  evidence: string
  verdict: string
  file: string
}

const repliesTo = (world: World, head: Message): Message[] =>
  world.slack.messages(world.channel, head.ts).filter(m => m.ts !== head.ts)

/** Asks with `/cni diagnose` and waits for all four parts of the answer. */
export const diagnosed = async (world: World, node: string, deadlineMs = 180_000): Promise<NodeAnswer> => {
  const before = new Set(world.slack.messages(world.channel).map(m => m.ts))
  await command(world, `diagnose ${node}`)
  return world.slack.waitFor(
    () => {
      const fresh = world.slack.messages(world.channel).filter(m => !before.has(m.ts))
      const head = fresh.find(m => m.thread_ts === undefined && / · asked by @?</.test(textOf(m)))
      const replies = head ? repliesTo(world, head) : []
      const name = replies.find(m => m.files?.length)?.files?.[0]?.id
      const file = world.slack.files().find(each => each.file.id === name)
      const [evidence, verdict] = replies.filter(m => !m.files?.length)
      return (
        head &&
        evidence &&
        verdict &&
        file && {
          first: textOf(head),
          evidence: textOf(evidence),
          verdict: textOf(verdict),
          file: file.content,
        }
      )
    },
    deadlineMs,
    `the whole answer about ${node}`,
  )
}

/** The newest message of the thread that says this, as text. */
export const newest = (world: World, says: RegExp): string => {
  const found = thread(world)
    .map(textOf)
    .findLast(text => says.test(text))
  if (found === undefined) throw new Error(`no message of the thread says ${says}`)
  return found
}

/** Waits until this person alone is shown such a sentence, after `since` of them. */
export const toldOnly = (world: World, user: string, says: RegExp, since = 0): Promise<string> =>
  world.slack.waitFor(
    () =>
      world.slack
        .ephemerals(user)
        .slice(since)
        .map(textOf)
        .find(text => says.test(text)),
    20_000,
    `a sentence for ${user} that says ${says}`,
  )

export const byAddress = (a: string, b: string): number => a.localeCompare(b, 'en', { numeric: true })

const methods: Record<string, string> = { create: 'POST', patch: 'PATCH', delete: 'DELETE', update: 'PUT' }

/** A write of the audit as a person would write it down. */
export const asRequest = ({ verb, resource, namespace, name, fieldManager }: AuditEntry): string =>
  [
    `${methods[verb]} /api/v1`,
    ...(namespace === undefined ? [] : ['namespaces', namespace]),
    resource,
    ...(name === undefined ? [] : [name]),
  ].join('/') + (fieldManager === undefined ? '' : `?fieldManager=${fieldManager}`)
