import { type ReactNode, useEffect, useRef } from 'react'
import type { Fields } from '../types.js'
import { TextObject } from './mrkdwn.js'

/** Slack's own question before a click is sent. */
export function Confirm({
  confirm,
  onYes,
  onNo,
}: {
  confirm: Fields
  onYes: () => void
  onNo: () => void
}): ReactNode {
  return (
    <Dialog testid="confirm" onClose={onNo} small>
      <h2>
        <TextObject value={confirm.title} />
      </h2>
      <div className="dialog-body">
        <TextObject value={confirm.text} />
      </div>
      <footer>
        <button type="button" className="button" data-testid="confirm-no" onClick={onNo}>
          <TextObject value={confirm.deny} />
        </button>
        <button
          type="button"
          className={`button ${confirm.style === 'danger' ? 'danger-filled' : 'primary'}`}
          data-testid="confirm-yes"
          onClick={onYes}
        >
          <TextObject value={confirm.confirm} />
        </button>
      </footer>
    </Dialog>
  )
}

export function Dialog({
  testid,
  onClose,
  small = false,
  children,
}: {
  testid: string
  onClose: () => void
  small?: boolean
  children: ReactNode
}): ReactNode {
  const ref = useRef<HTMLDialogElement>(null)
  useEffect(() => ref.current?.showModal(), [])
  return (
    <dialog
      ref={ref}
      className={small ? 'dialog small' : 'dialog'}
      data-testid={testid}
      onCancel={event => {
        event.preventDefault()
        onClose()
      }}
    >
      {children}
    </dialog>
  )
}
