import type { Message } from '../../../src/view/blocks.js'

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null

/** All texts of the blocks in reading order, one line a text: what a person would read. */
export const shown = (message: Message): string => {
  const texts: string[] = []
  const walk = (value: unknown): void => {
    if (Array.isArray(value)) for (const each of value) walk(each)
    else if (isRecord(value))
      for (const [key, each] of Object.entries(value)) {
        if (key === 'confirm') continue
        if (key === 'text' && typeof each === 'string') texts.push(each)
        else walk(each)
      }
  }
  walk(message.blocks)
  return texts.join('\n')
}

/** `approve: Approve`, for each button in order. */
export const buttonsOf = (message: Message): string[] =>
  message.blocks
    .filter(block => block.type === 'actions')
    .flatMap(block => (Array.isArray(block.elements) ? block.elements : []))
    .flatMap(element =>
      isRecord(element) && isRecord(element.text)
        ? [`${String(element.action_id)}: ${String(element.text.text)}`]
        : [],
    )
