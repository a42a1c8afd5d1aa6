import { createHash } from 'node:crypto'
import { type Action, actionId, type ButtonValue, encodeButton } from './button.js'
import { asMrkdwn, clean, fitted, type Text } from './text.js'

export interface Block {
  type: string
  [field: string]: unknown
}

/** As in the ports: what Slack is given. */
export interface Message {
  text: string
  blocks: Block[]
}

/**
 * Slack's limits (docs.slack.dev/reference/block-kit; the types of @slack/types 3.2.0). One block beyond its limit and the
 * whole message is refused, so every builder keeps to its own. `message` is ours: Slack refuses all blocks together beyond
 * about 13,200 characters.
 */
export const limits = {
  section: 2_900,
  context: 10,
  contextText: 2_000,
  actions: 25,
  button: 75,
  confirmTitle: 100,
  confirmText: 300,
  confirmButton: 30,
  tableRows: 100,
  tableCells: 20,
  cell: 300,
  // An edit takes 4,000 bytes of text at most.
  text: 1_000,
  message: 9_900,
} as const

const cut = (text: string, max: number): string => (text.length <= max ? text : `${text.slice(0, max - 1)}…`)

const plainText = (text: string, max: number) => ({
  type: 'plain_text',
  // Slack refuses an empty text object.
  text: cut(clean(text).replace(/\n/g, ' '), max) || '–',
  emoji: false,
})

// `verbatim`: Slack must not turn addresses and names found in the text into links of its own.
const mrkdwn = (text: string) => ({ type: 'mrkdwn', text: text || '–', verbatim: true })

/**
 * Lines under each other. What does not fit is left out from the end, and the last line says how many:
 * `rest` names where they are (`attached`).
 */
export const section = (lines: readonly Text[], rest = 'attached', max: number = limits.section): Block => {
  const shown: string[] = []
  let length = 0
  for (const line of lines) {
    const rendered = asMrkdwn(fitted(line, max - 60))
    if (length + rendered.length + 1 > max - 40) break
    shown.push(rendered)
    length += rendered.length + 1
  }
  const left = lines.length - shown.length
  if (left > 0) shown.push(`… ${left} more, ${rest}`)
  return { type: 'section', text: mrkdwn(shown.join('\n')) }
}

export const context = (texts: readonly Text[]): Block => ({
  type: 'context',
  elements: texts.slice(0, limits.context).map(text => mrkdwn(asMrkdwn(fitted(text, limits.contextText)))),
})

export interface Confirm {
  title: string
  text: Text
  confirm: string
  deny: string
  danger?: boolean
}

const confirmation = (ask: Confirm) => ({
  title: plainText(ask.title, limits.confirmTitle),
  text: mrkdwn(asMrkdwn(fitted(ask.text, limits.confirmText))),
  confirm: plainText(ask.confirm, limits.confirmButton),
  deny: plainText(ask.deny, limits.confirmButton),
  ...(ask.danger ? { style: 'danger' } : {}),
})

export interface Button {
  text: string
  value: ButtonValue
  style?: 'primary' | 'danger'
  confirm?: Confirm
}

const button = ({ text, value, style, confirm }: Button): Block => ({
  type: 'button',
  action_id: actionId(value.action),
  text: plainText(text, limits.button),
  value: encodeButton(value),
  ...(style ? { style } : {}),
  ...(confirm ? { confirm: confirmation(confirm) } : {}),
})

/** A row of buttons; no row where there is none. Each action at most once a row: Slack refuses double action ids. */
export const buttons = (wanted: readonly Button[]): Block[] => {
  const once = new Map<Action, Button>(wanted.map(each => [each.value.action, each]))
  const elements = [...once.values()].slice(0, limits.actions).map(button)
  return elements.length === 0 ? [] : [{ type: 'actions', elements }]
}

const raw = (text: string) => ({
  type: 'raw_text',
  text: cut(clean(text).replace(/\n/g, ' '), limits.cell) || '–',
})

/** One a message: Slack refuses a second. `align` is by column. */
export const table = (rows: readonly (readonly string[])[], align: readonly ('left' | 'right')[]): Block => ({
  type: 'table',
  rows: rows.slice(0, limits.tableRows).map(row => row.slice(0, limits.tableCells).map(raw)),
  column_settings: align.map(side => ({ align: side })),
})

/**
 * Commands and answers as they are. Rich text is never parsed for markup, so a command stands here character by character
 * as it runs.
 */
export const preformatted = (text: string, max = 2_500): Block => ({
  type: 'rich_text',
  elements: [
    {
      type: 'rich_text_preformatted',
      elements: [{ type: 'text', text: cut(clean(text), max) || '–' }],
      border: 0,
    },
  ],
})

/** Every string that Slack may count: all but type names. */
export const characters = (value: unknown): number => {
  if (typeof value === 'string') return value.length
  if (Array.isArray(value)) return value.reduce((sum: number, each) => sum + characters(each), 0)
  if (typeof value !== 'object' || value === null) return 0
  return Object.entries(value).reduce((sum, [key, each]) => sum + (key === 'type' ? 0 : characters(each)), 0)
}

const sectionText = (block: Block): string | undefined => {
  const { text } = block
  return block.type === 'section' && typeof text === 'object' && text !== null && 'text' in text
    ? String(text.text)
    : undefined
}

const withoutLastLines = (text: string, by: number): string => {
  const lines = text.split('\n')
  let left = 0
  for (let gone = 0; lines.length > 1 && gone < by + 40; left++) gone += (lines.pop()?.length ?? 0) + 1
  return [...lines, `… ${left} more lines left out`].join('\n')
}

// The parts are bounded, but their sum is not: the longest section gives up its last lines until the message fits.
const withinMessage = (blocks: Block[]): Block[] => {
  let fitting = blocks
  for (let rounds = 0; rounds < 20; rounds++) {
    const excess = characters(fitting) - limits.message
    if (excess <= 0) return fitting
    const length = (block: Block): number =>
      (sectionText(block)?.split('\n').length ?? 0) > 1 ? (sectionText(block)?.length ?? 0) : 0
    const longest = Math.max(...fitting.map(length))
    if (longest === 0) break
    const at = fitting.findIndex(block => length(block) === longest)
    fitting = fitting.map((block, i) =>
      i === at ? { ...block, text: mrkdwn(withoutLastLines(sectionText(block) ?? '', excess)) } : block,
    )
  }
  return fitting
}

/** `text` is what a phone's lock screen and a screen reader get: the message's first line and what is asked. */
export const message = (text: Text, blocks: Block[]): Message => ({
  text: asMrkdwn(fitted(text, limits.text)),
  blocks: withinMessage(blocks).slice(0, 50),
})

const canonical = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(canonical)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, each]) => [key, canonical(each)]),
  )
}

/** The same words give the same digest: an unchanged message is not sent again. 64 hex digits. */
export const digestOf = (value: { text: string; blocks: unknown[] }): string =>
  createHash('sha256')
    .update(JSON.stringify(canonical(value)))
    .digest('hex')
