import { type ReactNode, useState } from 'react'
import type { EnteredValues } from '../input.js'
import { Blocks } from './blocks.js'
import { clockTime, dayOf, fullTime } from './dates.js'
import { Emoji } from './emoji.js'
import { FileCard } from './file.js'
import { Mrkdwn } from './mrkdwn.js'
import { go, parseRoute } from './route.js'
import { type PageMessage, PlaceContext, useSession, type World } from './session.js'

const colours = ['#2b6f8a', '#8a4b2b', '#5b3f8a', '#3f7d4e', '#8a2b55', '#6b6b1f']

export const authorOf = (message: PageMessage, world: World): { name: string; isApp: boolean } => {
  const user = world.users.find(each => each.id === message.user)
  return { name: message.username ?? user?.real_name ?? 'unknown', isApp: message.bot_id !== undefined }
}

export function Avatar({
  name,
  isApp,
  size,
}: {
  name: string
  isApp: boolean
  size: 'large' | 'small'
}): ReactNode {
  const sum = Array.from(name).reduce((total, letter) => total + (letter.codePointAt(0) ?? 0), 0)
  const background = isApp ? '#1d3557' : (colours[sum % colours.length] ?? '#555')
  return (
    <span className={`avatar ${size}`} style={{ background }} aria-hidden="true">
      {isApp ? (
        <svg viewBox="0 0 36 36" aria-hidden="true">
          <path d="M18 9v6M18 21l-7 6M18 21l7 6" stroke="#a8dadc" strokeWidth="2.5" />
          <circle cx="18" cy="8" r="4" fill="#f1faee" />
          <circle cx="18" cy="18" r="4.5" fill="#e63946" />
          <circle cx="10" cy="28" r="4" fill="#f1faee" />
          <circle cx="26" cy="28" r="4" fill="#f1faee" />
        </svg>
      ) : (
        name.slice(0, 1).toUpperCase()
      )}
    </span>
  )
}

/** One message, in the channel or in a thread; `follows` leaves out the name that stands above it already. */
export function OneMessage({
  message,
  follows,
  inThread,
  pointed,
}: {
  message: PageMessage
  follows: boolean
  inThread: boolean
  pointed: boolean
}): ReactNode {
  const { world } = useSession()
  const { name, isApp } = authorOf(message, world)
  const ephemeral = message.ephemeral_to !== undefined
  return (
    <article
      className={`message ${follows ? 'follows' : ''} ${ephemeral ? 'ephemeral' : ''} ${pointed ? 'pointed' : ''}`}
      data-ts={message.ts}
      data-ephemeral={ephemeral || undefined}
    >
      {ephemeral && (
        <p className="only-you">
          <svg viewBox="0 0 20 20" aria-hidden="true">
            <path d="M1.5 10S4.5 4.5 10 4.5 18.5 10 18.5 10 15.5 15.5 10 15.5 1.5 10 1.5 10z" />
            <circle cx="10" cy="10" r="2.5" />
          </svg>
          Only visible to you
        </p>
      )}
      <div className="gutter">
        {follows ? (
          <time className="hover-time">{clockTime(message.ts)}</time>
        ) : (
          <Avatar name={name} isApp={isApp} size="large" />
        )}
      </div>
      <div className="content">
        {!follows && (
          <header>
            <b className="author">{name}</b>
            {isApp && <span className="app-badge">APP</span>}
            <time title={fullTime(message.ts)}>{clockTime(message.ts)}</time>
          </header>
        )}
        <Body message={message} />
        {!inThread && message.reply_count !== undefined && <Replies message={message} />}
      </div>
    </article>
  )
}

function Body({ message }: { message: PageMessage }): ReactNode {
  const { act } = useSession()
  const [entered, setEntered] = useState<EnteredValues>({})
  const { channel, ts } = message
  const place = {
    press: (actionId: string, more: object) =>
      act('press', { channel, ts, actionId, state: entered, ...more }),
    entered,
    enter: (blockId: string, actionId: string, value: string | string[]) =>
      setEntered(before => ({ ...before, [blockId]: { ...before[blockId], [actionId]: value } })),
    errors: {},
  }
  const edited = message.edited !== undefined && <span className="edited">(edited)</span>
  return (
    <PlaceContext.Provider value={place}>
      {message.blocks === undefined || message.blocks.length === 0 ? (
        message.text !== '' && <Mrkdwn text={message.text} />
      ) : (
        <Blocks blocks={message.blocks} />
      )}
      {edited}
      {message.files?.map(file => (
        <FileCard key={file.id} file={file} />
      ))}
      {message.reactions?.map(reaction => (
        <span key={reaction.name} className="reaction">
          <Emoji code={reaction.name} /> {reaction.count}
        </span>
      ))}
    </PlaceContext.Provider>
  )
}

function Replies({ message }: { message: PageMessage }): ReactNode {
  const { world } = useSession()
  const people = (message.reply_users ?? []).slice(0, 4)
  const count = message.reply_count ?? 0
  return (
    <button
      type="button"
      className="replies"
      data-testid="replies"
      onClick={() => go(parseRoute(location.hash).channel || message.channel, message.ts)}
    >
      {people.map(id => {
        const user = world.users.find(each => each.id === id)
        return <Avatar key={id} name={user?.real_name ?? id} isApp={user?.is_bot ?? true} size="small" />
      })}
      <b>{count === 1 ? '1 reply' : `${count} replies`}</b>
      <small>
        Last reply {dayOf(message.latest_reply ?? message.ts)} at{' '}
        {clockTime(message.latest_reply ?? message.ts)}
      </small>
    </button>
  )
}
