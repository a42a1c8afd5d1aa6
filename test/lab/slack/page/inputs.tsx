import type { ReactNode } from 'react'
import type { Block, Fields } from '../types.js'
import { Choices, Menu } from './elements.js'
import { fieldsOf, textOf, wordsOf } from './fields.js'
import { TextObject } from './mrkdwn.js'
import { usePlace } from './session.js'

/** An input block: label, element, hint, and what the app or Slack said about the last attempt. */
export function Input({ block }: { block: Block }): ReactNode {
  const place = usePlace()
  const blockId = textOf(block.block_id)
  const element = fieldsOf(block.element)
  const error = place.errors[blockId]
  return (
    // biome-ignore lint/a11y/noLabelWithoutControl: the control is drawn by type below
    <label className={`input ${error === undefined ? '' : 'wrong'}`} data-block-id={blockId}>
      <span className="label">
        <TextObject value={block.label} />
        {block.optional === true && <span className="optional"> (optional)</span>}
      </span>
      <InputControl element={element} blockId={blockId} />
      {error !== undefined && (
        <span className="input-error" role="alert">
          {error}
        </span>
      )}
      {block.hint !== undefined && (
        <span className="hint">
          <TextObject value={block.hint} />
        </span>
      )}
    </label>
  )
}

const kinds: Record<string, string> = {
  number_input: 'number',
  email_text_input: 'email',
  url_text_input: 'url',
  datepicker: 'date',
  timepicker: 'time',
}

function InputControl({ element, blockId }: { element: Fields; blockId: string }): ReactNode {
  const place = usePlace()
  const actionId = textOf(element.action_id)
  const use = (value: string | string[]): void => place.enter(blockId, actionId, value)
  if (element.type === 'checkboxes' || element.type === 'radio_buttons') {
    return <Choices element={element} blockId={blockId} use={use} />
  }
  if (textOf(element.type).endsWith('select')) return <Menu element={element} blockId={blockId} use={use} />
  const initial = textOf(element.initial_value ?? element.initial_date ?? element.initial_time)
  const shared = {
    'data-action-id': actionId,
    placeholder: wordsOf(element.placeholder),
    value: [place.entered[blockId]?.[actionId] ?? initial].flat()[0] ?? '',
    onChange: (event: { target: { value: string } }) => use(event.target.value),
  }
  if (element.multiline === true) return <textarea rows={4} {...shared} />
  return <input type={kinds[textOf(element.type)] ?? 'text'} {...shared} />
}
