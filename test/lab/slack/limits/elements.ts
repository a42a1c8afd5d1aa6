import { z } from 'zod'

// The numbers are those of the Block Kit reference (docs.slack.dev/reference/block-kit) and of @slack/types.

const text = (type: 'plain_text' | 'mrkdwn' | 'either', max: number) =>
  z.looseObject({
    type: type === 'either' ? z.enum(['plain_text', 'mrkdwn']) : z.literal(type),
    text: z.string().min(1).max(max),
  })

export const plainText = (max: number) => text('plain_text', max)
export const anyText = (max: number) => text('either', max)

const actionId = { action_id: z.string().max(255).optional() }

export const confirm = z.looseObject({
  title: plainText(100),
  text: anyText(300),
  confirm: plainText(30),
  deny: plainText(30),
  style: z.enum(['primary', 'danger']).optional(),
})

const option = z.looseObject({
  text: anyText(75),
  value: z.string().max(150),
  description: anyText(75).optional(),
  url: z.string().max(3000).optional(),
})
const placeholder = { placeholder: plainText(150).optional(), confirm: confirm.optional() }
const optionGroup = z.looseObject({ label: plainText(75), options: z.array(option).min(1).max(100) })
const menuOptions = {
  options: z.array(option).min(1).max(100).optional(),
  option_groups: z.array(optionGroup).min(1).max(100).optional(),
}

const button = z.looseObject({
  type: z.literal('button'),
  ...actionId,
  text: plainText(75),
  value: z.string().max(2000).optional(),
  url: z.string().max(3000).optional(),
  style: z.enum(['primary', 'danger']).optional(),
  confirm: confirm.optional(),
  accessibility_label: z.string().max(75).optional(),
})

const few = (type: 'checkboxes' | 'radio_buttons', max: number) =>
  z.looseObject({
    type: z.literal(type),
    ...actionId,
    options: z.array(option).min(1).max(max),
    confirm: confirm.optional(),
  })

const overflow = z.looseObject({
  type: z.literal('overflow'),
  ...actionId,
  options: z.array(option).min(1).max(5),
  confirm: confirm.optional(),
})

const menu = (type: 'static_select' | 'multi_static_select') =>
  z.looseObject({ type: z.literal(type), ...actionId, ...placeholder, ...menuOptions })

const picker = <T extends string>(type: T) =>
  z.looseObject({ type: z.literal(type), ...actionId, ...placeholder })

const plainInput = z.looseObject({
  type: z.literal('plain_text_input'),
  ...actionId,
  placeholder: plainText(150).optional(),
  initial_value: z.string().max(3000).optional(),
  min_length: z.number().int().min(0).max(3000).optional(),
  max_length: z.number().int().min(1).max(3000).optional(),
  multiline: z.boolean().optional(),
})

export const image = z.looseObject({
  type: z.literal('image'),
  alt_text: z.string().max(2000),
  image_url: z.string().max(3000).optional(),
})

const choices = [
  few('checkboxes', 10),
  few('radio_buttons', 10),
  menu('static_select'),
  menu('multi_static_select'),
  picker('users_select'),
  picker('conversations_select'),
  picker('channels_select'),
  picker('datepicker'),
  picker('timepicker'),
] as const

export const actionsElement = z.discriminatedUnion('type', [button, ...choices, overflow])
export const accessory = z.discriminatedUnion('type', [button, ...choices, overflow, image])
export const inputElement = z.discriminatedUnion('type', [
  ...choices,
  plainInput,
  picker('number_input'),
  picker('email_text_input'),
  picker('url_text_input'),
])
