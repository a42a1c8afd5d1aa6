import { Fragment, type ReactNode, useEffect, useRef } from 'react'
import { dayOf } from './dates.js'
import { OneMessage } from './message.js'
import type { PageMessage } from './session.js'

/** Messages in order of time, with a line for each new day; stays at the end while new ones arrive. */
export function Conversation({
  messages,
  thread,
  target,
}: {
  messages: PageMessage[]
  thread: boolean
  /** The message a link points at. */
  target?: string | undefined
}): ReactNode {
  const ref = useRef<HTMLDivElement>(null)
  const atEnd = useRef(true)
  useEffect(() => {
    const element = ref.current
    if (element === null) return
    if (target !== undefined) {
      atEnd.current = false
      element.querySelector(`[data-ts="${CSS.escape(target)}"]`)?.scrollIntoView({ block: 'center' })
    }
    const stay = (): void => {
      if (atEnd.current) element.scrollTop = element.scrollHeight
    }
    const observer = new ResizeObserver(stay)
    for (const child of element.children) observer.observe(child)
    stay()
    return () => observer.disconnect()
  }, [target])
  return (
    <div
      ref={ref}
      className="conversation"
      onScroll={event => {
        const { scrollTop, scrollHeight, clientHeight } = event.currentTarget
        atEnd.current = scrollHeight - scrollTop - clientHeight < 60
      }}
    >
      <div className="messages">
        {messages.map((message, at) => {
          const before = messages[at - 1]
          const newDay = !thread && (before === undefined || dayOf(before.ts) !== dayOf(message.ts))
          return (
            <Fragment key={message.ts}>
              {newDay && (
                <div className="day">
                  <span>{dayOf(message.ts)}</span>
                </div>
              )}
              {thread && at === 1 && (
                <div className="thread-count">
                  {messages.length === 2 ? '1 reply' : `${messages.length - 1} replies`}
                </div>
              )}
              <OneMessage
                message={message}
                follows={!newDay && belongs(before, message, thread, at)}
                inThread={thread}
                pointed={message.ts === target}
              />
            </Fragment>
          )
        })}
      </div>
    </div>
  )
}

/** Slack leaves out the name when the same author goes on within five minutes. */
function belongs(
  before: PageMessage | undefined,
  message: PageMessage,
  thread: boolean,
  at: number,
): boolean {
  if (before === undefined || (thread && at === 1)) return false
  if (before.reply_count !== undefined && !thread) return false
  if (before.ephemeral_to !== message.ephemeral_to || message.ephemeral_to !== undefined) return false
  const same = before.user === message.user && before.username === message.username
  return same && Number(message.ts) - Number(before.ts) < 300
}
