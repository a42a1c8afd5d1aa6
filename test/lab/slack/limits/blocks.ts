import { z } from 'zod'
import type { Block } from '../types.js'
import { accessory, actionsElement, anyText, image, inputElement, plainText } from './elements.js'
import { problemsOf } from './problems.js'

const blockId = { block_id: z.string().max(255).optional() }

const richTextPart = z.looseObject({
  type: z.enum(['rich_text_section', 'rich_text_list', 'rich_text_preformatted', 'rich_text_quote']),
  elements: z.array(z.looseObject({ type: z.string() })),
})
const richText = z.looseObject({ type: z.literal('rich_text'), ...blockId, elements: z.array(richTextPart) })

const tableCell = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('raw_text'), text: z.string() }),
  z.looseObject({ type: z.literal('raw_number'), value: z.number(), text: z.string().optional() }),
  richText,
])
const table = z.looseObject({
  type: z.literal('table'),
  ...blockId,
  rows: z.array(z.array(tableCell).min(1).max(20)).min(1).max(100),
  column_settings: z
    .array(z.looseObject({ align: z.enum(['left', 'center', 'right']).optional() }).nullable())
    .max(20)
    .optional(),
})

const section = z
  .looseObject({
    type: z.literal('section'),
    ...blockId,
    text: anyText(3000).optional(),
    fields: z.array(anyText(2000)).min(1).max(10).optional(),
    accessory: accessory.optional(),
  })
  .refine(block => block.text !== undefined || block.fields !== undefined, {
    message: 'missing required field: text',
  })

const everywhere = [
  section,
  z.looseObject({ type: z.literal('header'), ...blockId, text: plainText(150) }),
  z.looseObject({ type: z.literal('divider'), ...blockId }),
  z.looseObject({
    type: z.literal('context'),
    ...blockId,
    elements: z
      .array(z.discriminatedUnion('type', [image, anyText(3000)]))
      .min(1)
      .max(10),
  }),
  z.looseObject({ type: z.literal('actions'), ...blockId, elements: z.array(actionsElement).min(1).max(25) }),
  z.looseObject({ ...image.shape, ...blockId, title: plainText(2000).optional() }),
  z.looseObject({
    type: z.literal('input'),
    ...blockId,
    label: plainText(2000),
    hint: plainText(2000).optional(),
    optional: z.boolean().optional(),
    element: inputElement,
  }),
  richText,
] as const

const messageOnly = [
  table,
  z.looseObject({ type: z.literal('markdown'), ...blockId, text: z.string().min(1).max(12_000) }),
] as const

const messageBlocks = z.array(z.discriminatedUnion('type', [...everywhere, ...messageOnly])).max(50)
const viewBlocks = z.array(z.discriminatedUnion('type', [...everywhere])).max(100)

/**
 * What Slack would say about these blocks, in its own words and with a pointer to the place; empty when it would take
 * them. Blocks it knows and this file does not are refused as unsupported.
 */
export function blockProblems(blocks: unknown, where: 'message' | 'view'): string[] {
  const parsed = (where === 'message' ? messageBlocks : viewBlocks).safeParse(blocks)
  if (!parsed.success) return problemsOf(parsed.error, '/blocks')
  const known = parsed.data as Block[]
  const tables = known.filter(block => block.type === 'table').length
  const tableProblem =
    tables > 1 ? ['[ERROR] only one table is allowed per message [json-pointer:/blocks]'] : []
  return [...tableProblem, ...doubleIds(known)]
}

function doubleIds(blocks: Block[]): string[] {
  const problems: string[] = []
  const blockIds = new Set<string>()
  blocks.forEach((block, at) => {
    if (block.block_id !== undefined && blockIds.has(block.block_id)) {
      problems.push(
        `[ERROR] \`block_id\` "${block.block_id}" already exists [json-pointer:/blocks/${at}/block_id]`,
      )
    }
    if (block.block_id !== undefined) blockIds.add(block.block_id)
    const actionIds = new Set<string>()
    const elements = block.type === 'actions' ? (block.elements as { action_id?: string }[]) : []
    elements.forEach((element, index) => {
      const id = element.action_id
      if (id !== undefined && actionIds.has(id)) {
        const pointer = `/blocks/${at}/elements/${index}/action_id`
        problems.push(`[ERROR] \`action_id\` "${id}" already exists [json-pointer:${pointer}]`)
      }
      if (id !== undefined) actionIds.add(id)
    })
  })
  return problems
}

/** Slack publishes no number: this one was found by others (slackapi/bolt-js#2509). */
export const MOST_BLOCK_CHARACTERS = 13_200

/**
 * Counts every string but type names. Others counted `text` alone and were refused well below the limit
 * (slackapi/bolt-js#2867), so ids, values and addresses are taken to count too.
 */
export function blockCharacters(value: unknown): number {
  if (typeof value === 'string') return value.length
  if (Array.isArray(value)) return value.reduce((sum: number, each) => sum + blockCharacters(each), 0)
  if (typeof value !== 'object' || value === null) return 0
  return Object.entries(value).reduce(
    (sum, [key, each]) => sum + (key === 'type' ? 0 : blockCharacters(each)),
    0,
  )
}
