import { isFields } from './args.js'
import type { Block, Fields, StateValues } from './types.js'

/** What a person enters: text, the value of one option, or the values of several. */
export type Entered = string | string[]
export type EnteredValues = Record<string, Record<string, Entered>>

const asFields = (value: unknown): Fields => (isFields(value) ? value : {})
const optionsOf = (element: Fields): Fields[] => {
  const groups = Array.isArray(element.option_groups) ? element.option_groups : []
  const grouped: unknown[] = groups.flatMap(group => asFields(group).options)
  const plain = Array.isArray(element.options) ? element.options : []
  return [...plain, ...grouped].filter(isFields)
}

const optionNamed = (element: Fields, value: string): Fields => {
  const found = optionsOf(element).find(option => option.value === value)
  if (found === undefined) throw new Error(`${String(element.action_id)} has no option "${value}"`)
  return found
}

/** The state of one element in the shape Slack sends, from what was entered or else from its initial value. */
export function stateOf(element: Fields, entered: Entered | undefined): Fields {
  const type = String(element.type)
  const several = (): Fields[] =>
    entered === undefined
      ? ((element.initial_options as Fields[] | undefined) ?? [])
      : [entered].flat().map(value => optionNamed(element, value))
  const one = [entered].flat()[0]
  switch (type) {
    case 'checkboxes':
    case 'multi_static_select':
      return { type, selected_options: several() }
    case 'radio_buttons':
    case 'static_select':
    case 'overflow': {
      const option = one === undefined ? (element.initial_option ?? null) : optionNamed(element, one)
      return { type, selected_option: option }
    }
    case 'users_select':
      return { type, selected_user: one ?? element.initial_user ?? null }
    case 'conversations_select':
      return { type, selected_conversation: one ?? element.initial_conversation ?? null }
    case 'channels_select':
      return { type, selected_channel: one ?? element.initial_channel ?? null }
    case 'datepicker':
      return { type, selected_date: one ?? element.initial_date ?? null }
    case 'timepicker':
      return { type, selected_time: one ?? element.initial_time ?? null }
    default:
      return { type, value: one === '' ? null : (one ?? element.initial_value ?? null) }
  }
}

/** Every element that holds a state: in input blocks, and the choices in actions blocks and accessories. */
function statefulElements(block: Block): Fields[] {
  const candidates =
    block.type === 'input'
      ? [block.element]
      : block.type === 'actions' && Array.isArray(block.elements)
        ? (block.elements as unknown[])
        : block.type === 'section'
          ? [block.accessory]
          : []
  return candidates
    .filter(isFields)
    .filter(each => !['button', 'image', 'overflow'].includes(String(each.type)))
}

export function stateValues(blocks: Block[], entered: EnteredValues): StateValues {
  const values: StateValues = {}
  for (const block of blocks) {
    for (const element of statefulElements(block)) {
      const [blockId, actionId] = [String(block.block_id), String(element.action_id)]
      values[blockId] = { ...values[blockId], [actionId]: stateOf(element, entered[blockId]?.[actionId]) }
    }
  }
  return values
}

/** What Slack's own client refuses before it sends anything: a required input without a value, text out of bounds. */
export function inputErrors(blocks: Block[], values: StateValues): Record<string, string> {
  const errors: Record<string, string> = {}
  for (const block of blocks) {
    if (block.type !== 'input') continue
    const element = asFields(block.element)
    const state = values[String(block.block_id)]?.[String(element.action_id)] ?? {}
    const { type, ...rest } = state
    const value = Object.values(rest)[0]
    const empty = value === null || value === undefined || (Array.isArray(value) && value.length === 0)
    if (empty && block.optional !== true)
      errors[String(block.block_id)] = 'Please complete this required field.'
    if (type !== 'plain_text_input' || typeof value !== 'string') continue
    const [least, most] = [Number(element.min_length ?? 0), Number(element.max_length ?? 3000)]
    if (value.length < least) errors[String(block.block_id)] = `Must be at least ${least} characters.`
    if (value.length > most) errors[String(block.block_id)] = `Must be no more than ${most} characters.`
  }
  return errors
}

/** The element with this action id, and the block it stands in. */
export function findElement(
  blocks: Block[],
  actionId: string,
): { block: Block; element: Fields } | undefined {
  for (const block of blocks) {
    const elements = [
      block.accessory,
      block.element,
      ...(Array.isArray(block.elements) ? block.elements : []),
    ]
    const element = elements.filter(isFields).find(each => each.action_id === actionId)
    if (element !== undefined) return { block, element }
  }
  return undefined
}
