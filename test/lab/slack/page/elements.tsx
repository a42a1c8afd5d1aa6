import { type ReactNode, useState } from 'react'
import type { Fields } from '../types.js'
import { Confirm } from './confirm.js'
import { Emoji } from './emoji.js'
import { fieldsOf, listOf, textOf, wordsOf } from './fields.js'
import { safeHref, TextObject } from './mrkdwn.js'
import { usePlace } from './session.js'

interface Props {
  element: Fields
  blockId: string
}

/** An element that can be used: it asks first if it has a `confirm`, then sends a real `block_actions`. */
export function Element({ element, blockId }: Props): ReactNode {
  const place = usePlace()
  const [asking, setAsking] = useState<string | string[] | true>()
  const [busy, setBusy] = useState(false)
  const [failure, setFailure] = useState<string>()
  const actionId = textOf(element.action_id)

  const send = async (value: string | string[] | true): Promise<void> => {
    setAsking(undefined)
    setBusy(true)
    if (value !== true) place.enter(blockId, actionId, value)
    const outcome = await place.press(actionId, value === true ? {} : { value })
    setBusy(false)
    setFailure(outcome.acked === true ? undefined : (outcome.error ?? 'not sent'))
  }
  const use = (value: string | string[] | true): void => {
    const href = safeHref(textOf(element.url))
    if (href !== undefined) open(href, '_blank', 'noreferrer')
    if (element.confirm === undefined) void send(value)
    else setAsking(value)
  }
  return (
    <span className="element">
      <Control element={element} blockId={blockId} busy={busy} use={use} />
      {failure !== undefined && (
        <span className="element-failure" role="alert" data-testid="action-failure">
          <Emoji code="warning" /> That did not work ({failure}). Try again.
        </span>
      )}
      {asking !== undefined && (
        <Confirm
          confirm={fieldsOf(element.confirm)}
          onYes={() => void send(asking)}
          onNo={() => setAsking(undefined)}
        />
      )}
    </span>
  )
}

interface ControlProps extends Props {
  busy: boolean
  use: (value: string | string[] | true) => void
}

function Control({ element, blockId, busy, use }: ControlProps): ReactNode {
  const actionId = textOf(element.action_id)
  switch (element.type) {
    case 'button':
      return (
        <button
          type="button"
          className={`button ${textOf(element.style)} ${busy ? 'busy' : ''}`}
          data-action-id={actionId}
          data-value={textOf(element.value)}
          aria-label={textOf(element.accessibility_label) || undefined}
          onClick={() => use(true)}
        >
          <TextObject value={element.text} />
        </button>
      )
    case 'image':
      return <span className="picture">{textOf(element.alt_text)}</span>
    case 'checkboxes':
    case 'radio_buttons':
      return <Choices element={element} blockId={blockId} use={use} />
    default:
      return <Menu element={element} blockId={blockId} use={use} />
  }
}

const initialOf = (element: Fields): string[] =>
  element.initial_options === undefined
    ? [fieldsOf(element.initial_option)]
        .filter(option => option.value !== undefined)
        .map(each => textOf(each.value))
    : listOf(element.initial_options).map(each => textOf(each.value))

/** What is chosen now: what the person entered, or else what the element starts with. */
export function useChosen(element: Fields, blockId: string): string[] {
  const entered = usePlace().entered[blockId]?.[textOf(element.action_id)]
  return entered === undefined ? initialOf(element) : [entered].flat()
}

export function Choices({
  element,
  blockId,
  use,
}: Props & { use: (value: string | string[]) => void }): ReactNode {
  const chosen = useChosen(element, blockId)
  const several = element.type === 'checkboxes'
  const actionId = textOf(element.action_id)
  return (
    <span className="choices" data-action-id={actionId}>
      {listOf(element.options).map(option => {
        const value = textOf(option.value)
        const toggle = (on: boolean): void => {
          if (several) use(on ? [...chosen, value] : chosen.filter(each => each !== value))
          else use(value)
        }
        return (
          <label key={value} className="choice">
            <input
              type={several ? 'checkbox' : 'radio'}
              name={`${blockId}/${actionId}`}
              value={value}
              checked={chosen.includes(value)}
              onChange={event => toggle(event.target.checked)}
            />
            <span>
              <TextObject value={option.text} />
              {option.description !== undefined && (
                <small>
                  <TextObject value={option.description} />
                </small>
              )}
            </span>
          </label>
        )
      })}
    </span>
  )
}

export function Menu({
  element,
  blockId,
  use,
}: Props & { use: (value: string | string[]) => void }): ReactNode {
  const chosen = useChosen(element, blockId)
  const overflow = element.type === 'overflow'
  const groups = listOf(element.option_groups)
  const options = listOf(element.options)
  const draw = (option: Fields): ReactNode => (
    <option key={textOf(option.value)} value={textOf(option.value)}>
      {wordsOf(option.text)}
    </option>
  )
  return (
    <select
      className={overflow ? 'overflow' : 'menu'}
      data-action-id={textOf(element.action_id)}
      value={overflow ? '' : (chosen[0] ?? '')}
      onChange={event => use(event.target.value)}
    >
      <option value="" disabled>
        {overflow ? '⋯' : wordsOf(element.placeholder) || 'Choose …'}
      </option>
      {options.map(draw)}
      {groups.map(group => (
        <optgroup key={wordsOf(group.label)} label={wordsOf(group.label)}>
          {listOf(group.options).map(draw)}
        </optgroup>
      ))}
    </select>
  )
}
