import type { Block, Fields, Message } from './slack/index.js'
import type { World } from './world.js'

const isFields = (value: unknown): value is Fields => typeof value === 'object' && value !== null

/** Every button a message carries, by action id. */
export const buttonsOf = (message: Message): Fields[] => {
  const blocks: Block[] = message.blocks ?? []
  return blocks.flatMap(block => {
    const elements = Array.isArray(block.elements) ? block.elements : []
    const accessory = isFields(block.accessory) ? [block.accessory] : []
    return [...elements, ...accessory].filter(isFields).filter(element => element.type === 'button')
  })
}

/** One line a row. */
const tableText = (rows: unknown): string =>
  `\n${(Array.isArray(rows) ? rows : [])
    .map(row => (Array.isArray(row) ? row : []).map(cell => textOf({ blocks: [cell], text: '' })).join('  '))
    .join('\n')}\n`

/** What a message says, without its markup: for people at a terminal and for tests. */
export const textOf = (message: Pick<Message, 'blocks' | 'text'>): string => {
  const texts: string[] = []
  const walk = (value: unknown): void => {
    if (Array.isArray(value)) for (const one of value) walk(one)
    else if (isFields(value)) {
      if (value.type === 'actions') return
      if (value.type === 'table') return void texts.push(tableText(value.rows))
      if (typeof value.text === 'string') texts.push(value.text)
      else walk(value.text)
      if (typeof value.user_id === 'string') texts.push(`@${value.user_id}`)
      for (const key of ['elements', 'fields']) walk(value[key])
      if (
        [
          'section',
          'header',
          'rich_text_section',
          'rich_text_preformatted',
          'context',
          'rich_text_list',
        ].includes(String(value.type))
      )
        texts.push('\n')
    }
  }
  walk(message.blocks ?? [])
  return (
    texts
      .join('')
      .replace(/\n{2,}/g, '\n')
      .trim() || message.text
  )
}

/** The thread of the newest incident: its head and everything below it, oldest first. */
export const thread = (world: World): Message[] => {
  const all = world.slack.messages(world.channel).filter(m => m.ephemeral_to === undefined)
  // An answer to `/cni diagnose` stands in the channel as well.
  const head = all
    .filter(m => m.bot_id !== undefined && m.thread_ts === undefined && /^incident /m.test(textOf(m)))
    .at(-1)
  return head ? all.filter(m => m.ts === head.ts || m.thread_ts === head.ts) : []
}

/** Waits until a message of the thread says this. */
export const saying = (world: World, text: string | RegExp, deadlineMs = 180_000): Promise<Message> =>
  world.slack.waitFor(
    () =>
      thread(world).find(m => (typeof text === 'string' ? textOf(m).includes(text) : text.test(textOf(m)))),
    deadlineMs,
    `a message that says ${text}`,
  )

/** Waits for a button and presses it as this person. Answers how Slack took the press. */
export const press = async (
  world: World,
  user: string,
  action: string,
  {
    deadlineMs = 180_000,
    not = new Set<string>(),
    where = (message: Message) => message.blocks !== undefined,
  } = {},
) => {
  const actionId = `cnibot:${action}`
  const message = await world.slack.waitFor(
    () =>
      thread(world).find(m => !not.has(m.ts) && where(m) && buttonsOf(m).some(b => b.action_id === actionId)),
    deadlineMs,
    `a button ${action}`,
  )
  not.add(message.ts)
  const outcome = await world.slack.press({ user, channel: world.channel, ts: message.ts, actionId })
  return { message, outcome }
}
