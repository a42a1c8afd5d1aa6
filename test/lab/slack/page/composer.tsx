import { type ReactNode, useState } from 'react'
import { useSession } from './session.js'

/** Enter sends, Shift+Enter breaks the line. A line that begins with a slash is a command. */
export function Composer({
  channel,
  thread,
  placeholder,
}: {
  channel: string
  thread?: string
  placeholder: string
}): ReactNode {
  const { act } = useSession()
  const [text, setText] = useState('')
  const [hint, setHint] = useState<string>()
  const send = async (): Promise<void> => {
    const line = text.trim()
    if (line === '') return
    if (thread !== undefined && line.startsWith('/')) {
      setHint(`${line.split(' ')[0]} is not supported in threads. Sorry!`)
      return
    }
    setHint(undefined)
    setText('')
    await act('say', { channel, text: line, ...(thread === undefined ? {} : { thread_ts: thread }) })
  }
  return (
    <form
      className="composer"
      onSubmit={event => {
        event.preventDefault()
        void send()
      }}
    >
      <textarea
        rows={1}
        data-testid={thread === undefined ? 'message-box' : 'thread-box'}
        aria-label={placeholder}
        placeholder={placeholder}
        value={text}
        onChange={event => setText(event.target.value)}
        onKeyDown={event => {
          if (event.key !== 'Enter' || event.shiftKey) return
          event.preventDefault()
          void send()
        }}
      />
      <div className="composer-bar">
        <span className="composer-hint">
          {hint ?? (text.startsWith('/') ? 'A command goes to the app' : '')}
        </span>
        <button type="submit" className={text.trim() === '' ? 'send' : 'send ready'} aria-label="Send">
          <svg viewBox="0 0 20 20" aria-hidden="true">
            <path d="M2 2.5l16 7.5-16 7.5 2.5-7.5z" />
          </svg>
        </button>
      </div>
    </form>
  )
}
