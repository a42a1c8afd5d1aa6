import { Fragment, type ReactNode } from 'react'
import { slackDate } from './dates.js'
import { withEmoji } from './emoji.js'
import { useSession, type World } from './session.js'

// Slack's own markup, written here because the kept library reads 10:40:22 as an emoji and 5*3*2 as bold.

export const plainOf = (text: string): string =>
  text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&')

/** Only these become links; anything else, `javascript:` above all, stays text. */
export const safeHref = (url: string): string | undefined =>
  /^(https?:\/\/|mailto:)/i.test(url) ? url : undefined

const before = `(?<=^|[\\s([{"'\`.,;:!?/|·—–-])`
const after = `(?=$|[\\s)\\]}"'\`.,;:!?/|·—–-])`
const styled = (mark: string): string =>
  `${before}\\${mark}(?!\\s)([^\\${mark}\\n]+?)(?<!\\s)\\${mark}${after}`
const inline = new RegExp(['<([^<>\\n]+)>', '`([^`\\n]+)`', styled('*'), styled('_'), styled('~')].join('|'))

export function Mrkdwn({ text }: { text: string }): ReactNode {
  const { world } = useSession()
  const parts = text.split(/```\n?([\s\S]*?)\n?```/g)
  return (
    <div className="mrkdwn">
      {parts.map((part, at) =>
        at % 2 === 1 ? (
          // biome-ignore lint/suspicious/noArrayIndexKey: parts have no other identity
          <pre key={at}>{references(part, world)}</pre>
        ) : (
          // biome-ignore lint/suspicious/noArrayIndexKey: parts have no other identity
          <Lines key={at} text={part} world={world} />
        ),
      )}
    </div>
  )
}

const quoted = /^(?:&gt;|>) ?/

/** Neighbouring lines of one kind make one paragraph or one quote. */
function Lines({ text, world }: { text: string; world: World }): ReactNode {
  if (text === '') return null
  const groups: { quote: boolean; lines: string[] }[] = []
  for (const line of text.split('\n')) {
    const quote = quoted.test(line)
    const last = groups.at(-1)
    const bare = quote ? line.replace(quoted, '') : line
    if (last?.quote === quote) last.lines.push(bare)
    else groups.push({ quote, lines: [bare] })
  }
  return groups.map(({ quote, lines }, at) => {
    const Tag = quote ? 'blockquote' : 'p'
    return (
      // biome-ignore lint/suspicious/noArrayIndexKey: lines have no other identity
      <Tag key={at}>
        {lines.map((line, n) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: lines have no other identity
          <Fragment key={n}>
            {n > 0 && <br />}
            {span(line, world)}
          </Fragment>
        ))}
      </Tag>
    )
  })
}

function span(text: string, world: World): ReactNode[] {
  const match = inline.exec(text)
  if (match === null) return withEmoji(plainOf(text))
  const [whole, reference, code, bold, italic, strike] = match
  const key = `${match.index}-${text.length}`
  let node: ReactNode
  if (reference !== undefined) node = <Fragment key={key}>{refer(reference, world)}</Fragment>
  else if (code !== undefined) node = <code key={key}>{references(code, world)}</code>
  else if (bold !== undefined) node = <b key={key}>{span(bold, world)}</b>
  else if (italic !== undefined) node = <i key={key}>{span(italic, world)}</i>
  else node = <s key={key}>{span(strike ?? '', world)}</s>
  return [
    <Fragment key="left">{withEmoji(plainOf(text.slice(0, match.index)))}</Fragment>,
    node,
    <Fragment key="right">{span(text.slice(match.index + whole.length), world)}</Fragment>,
  ]
}

/** Inside code only `<…>` means something: backticks do not protect from mentions and links. */
function references(text: string, world: World): ReactNode[] {
  return text.split(/<([^<>\n]+)>/g).map((part, at) =>
    // biome-ignore lint/suspicious/noArrayIndexKey: parts have no other identity
    at % 2 === 1 ? <Fragment key={at}>{refer(part, world)}</Fragment> : plainOf(part),
  )
}

function refer(inside: string, world: World): ReactNode {
  const [target = '', label] = inside.split('|', 2)
  const shown = label === undefined ? undefined : plainOf(label)
  if (target.startsWith('@')) {
    const user = world.users.find(each => each.id === target.slice(1))
    return <span className="mention">@{user?.real_name ?? shown ?? target.slice(1)}</span>
  }
  if (target.startsWith('#')) {
    const channel = world.channels.find(each => each.id === target.slice(1))
    return (
      <a className="mention" href={target}>
        #{channel?.name ?? shown ?? target.slice(1)}
      </a>
    )
  }
  if (target.startsWith('!')) return special(target.slice(1), shown, world)
  const href = safeHref(plainOf(target))
  if (href === undefined) return shown ?? plainOf(target)
  return (
    <a href={href} target="_blank" rel="noreferrer noopener">
      {shown ?? plainOf(target)}
    </a>
  )
}

function special(target: string, label: string | undefined, world: World): ReactNode {
  const [name = '', first = '', second = ''] = target.split('^')
  if (name === 'subteam') {
    const group = world.groups.find(each => each.id === first)
    return <span className="mention">@{group?.handle ?? label ?? first}</span>
  }
  if (name === 'date') return <time>{slackDate(Number(first), second) || label}</time>
  return <span className="mention broadcast">@{name}</span>
}

/** A text object: `plain_text` has emoji and line breaks, nothing else. */
export function TextObject({ value }: { value: unknown }): ReactNode {
  const { type, text } = (value ?? {}) as { type?: string; text?: string }
  if (type === 'mrkdwn') return <Mrkdwn text={text ?? ''} />
  return <span className="plain">{withEmoji(plainOf(text ?? ''))}</span>
}
