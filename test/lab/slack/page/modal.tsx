import { type ReactNode, useState } from 'react'
import type { EnteredValues } from '../input.js'
import type { View } from '../types.js'
import { Blocks } from './blocks.js'
import { Dialog } from './confirm.js'
import { wordsOf } from './fields.js'
import { TextObject } from './mrkdwn.js'
import { PlaceContext, useSession } from './session.js'

/** A modal keeps what was entered while the app updates it, as Slack does for blocks whose ids stay. */
export function Modal({ view }: { view: View }): ReactNode {
  const { act } = useSession()
  const [entered, setEntered] = useState<EnteredValues>({})
  const [errors, setErrors] = useState<Record<string, string>>({})
  const [trouble, setTrouble] = useState<string>()
  const [busy, setBusy] = useState(false)
  const viewId = view.id
  const close = (): void => void act('close', { viewId })

  const submit = async (): Promise<void> => {
    setBusy(true)
    const outcome = await act('submit', { viewId, state: entered })
    setBusy(false)
    setErrors(outcome.errors ?? {})
    setTrouble(outcome.acked === true || outcome.errors !== undefined ? undefined : outcome.error)
  }
  const place = {
    press: (actionId: string, more: object) =>
      act('press-view', { viewId, actionId, state: entered, ...more }),
    entered,
    enter: (blockId: string, actionId: string, value: string | string[]) =>
      setEntered(before => ({ ...before, [blockId]: { ...before[blockId], [actionId]: value } })),
    errors,
  }
  return (
    <Dialog testid="modal" onClose={close}>
      <header>
        <h2>
          <TextObject value={view.title} />
        </h2>
        <button type="button" className="icon" aria-label="Close" data-testid="modal-close" onClick={close}>
          ✕
        </button>
      </header>
      <div className="dialog-body">
        <PlaceContext.Provider value={place}>
          <Blocks blocks={view.blocks} />
        </PlaceContext.Provider>
        {trouble !== undefined && (
          <p className="input-error" role="alert">
            We had some trouble connecting ({trouble}). Try again?
          </p>
        )}
      </div>
      <footer>
        <button type="button" className="button" data-testid="modal-cancel" onClick={close}>
          {wordsOf(view.close) || 'Cancel'}
        </button>
        {view.submit !== undefined && (
          <button
            type="button"
            className={`button primary ${busy ? 'busy' : ''}`}
            data-testid="modal-submit"
            onClick={() => void submit()}
          >
            <TextObject value={view.submit} />
          </button>
        )}
      </footer>
    </Dialog>
  )
}
