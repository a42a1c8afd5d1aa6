import type { ViewOutput } from '@slack/bolt'
import type { ModalView } from '@slack/types'
import type { SlackClick } from './app.js'

/** Callback id of the dialog that asks for a reason. */
export const reasonOf = 'cnibot:reason'

interface Question {
  title: string
  label: string
  submit: string
}

type Kept = Pick<SlackClick, 'channel' | 'messageTs' | 'threadTs' | 'action' | 'value'>

/** The dialog carries the click that opened it: ids only, as the button did. */
export const reasonView = (question: Question, click: SlackClick): ModalView => {
  const { channel, messageTs, threadTs, action, value } = click
  const kept: Kept = { channel, messageTs, threadTs, action, value }
  return {
    type: 'modal',
    callback_id: reasonOf,
    private_metadata: JSON.stringify(kept),
    title: { type: 'plain_text', text: question.title.slice(0, 24) },
    submit: { type: 'plain_text', text: question.submit.slice(0, 24) },
    close: { type: 'plain_text', text: 'Back' },
    blocks: [
      {
        type: 'input',
        block_id: 'reason',
        label: { type: 'plain_text', text: question.label },
        element: {
          type: 'plain_text_input',
          action_id: 'text',
          min_length: 3,
          max_length: 500,
          multiline: true,
        },
      },
    ],
  }
}

const isText = (value: unknown): value is string => typeof value === 'string'

/** The click with its reason; undefined for a dialog that is not ours. Who submitted it is not in it. */
export const submittedReason = (view: ViewOutput): SlackClick | undefined => {
  const kept: unknown = JSON.parse(view.private_metadata || 'null')
  if (typeof kept !== 'object' || kept === null) return undefined
  const { channel, messageTs, threadTs, action, value }: Partial<Record<keyof Kept, unknown>> = kept
  if (!isText(channel) || !isText(messageTs) || !isText(action) || !isText(value)) return undefined
  return {
    user: '',
    team: '',
    channel,
    messageTs,
    threadTs: isText(threadTs) ? threadTs : undefined,
    action,
    value,
    // A dialog is submitted once; its id tells a second delivery.
    triggerId: view.id,
    inputs: { reason: view.state.values.reason?.text?.value ?? '' },
  }
}
