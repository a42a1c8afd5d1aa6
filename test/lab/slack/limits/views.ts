import { z } from 'zod'
import type { Block } from '../types.js'
import { blockProblems } from './blocks.js'
import { plainText } from './elements.js'
import { problemsOf } from './problems.js'

const shared = {
  callback_id: z.string().max(255).optional(),
  private_metadata: z.string().max(3000).optional(),
  external_id: z.string().max(255).optional(),
  blocks: z.array(z.looseObject({ type: z.string() })),
}
const modal = z.looseObject({
  ...shared,
  type: z.literal('modal'),
  title: plainText(24),
  submit: plainText(24).optional(),
  close: plainText(24).optional(),
  clear_on_close: z.boolean().optional(),
  notify_on_close: z.boolean().optional(),
})
const home = z.looseObject({ ...shared, type: z.literal('home') })

export type ViewInput = z.infer<typeof modal> | z.infer<typeof home>

/** The view that was asked for, or what Slack would say is wrong with it. */
export function parseView(
  value: unknown,
  type: 'modal' | 'home',
): { view: ViewInput } | { problems: string[] } {
  if (JSON.stringify(value ?? null).length > 250_000) {
    return { problems: ['[ERROR] view is larger than 250 KB [json-pointer:/view]'] }
  }
  const parsed = (type === 'modal' ? modal : home).safeParse(value)
  if (!parsed.success) return { problems: problemsOf(parsed.error, '/view') }
  const blocks = parsed.data.blocks as Block[]
  const problems = blockProblems(blocks, 'view').map(line =>
    line.replace('[json-pointer:', '[json-pointer:/view'),
  )
  const asks = blocks.some(block => block.type === 'input')
  if (parsed.data.type === 'modal' && asks && parsed.data.submit === undefined) {
    problems.push(
      '[ERROR] `submit` is required when an input block is within the `blocks` array [json-pointer:/view]',
    )
  }
  return problems.length > 0 ? { problems } : { view: parsed.data }
}
