import type { ReactNode } from 'react'

/** The short codes that bots write, with Slack's names. Others stay text, as an unknown emoji does in Slack. */
const unicode: Record<string, string> = {
  red_circle: '🔴',
  large_yellow_circle: '🟡',
  large_green_circle: '🟢',
  large_orange_circle: '🟠',
  large_blue_circle: '🔵',
  white_circle: '⚪',
  black_circle: '⚫',
  white_check_mark: '✅',
  heavy_check_mark: '✔️',
  ballot_box_with_check: '☑️',
  x: '❌',
  no_entry: '⛔',
  no_entry_sign: '🚫',
  warning: '⚠️',
  hourglass_flowing_sand: '⏳',
  hourglass: '⌛',
  white_small_square: '▫️',
  black_small_square: '▪️',
  white_medium_square: '◻️',
  double_vertical_bar: '⏸️',
  arrows_counterclockwise: '🔄',
  leftwards_arrow_with_hook: '↩️',
  paperclip: '📎',
  lock: '🔒',
  mag: '🔍',
  eyes: '👀',
  information_source: 'ℹ️',
  rotating_light: '🚨',
  bell: '🔔',
  wrench: '🔧',
  hammer_and_wrench: '🛠️',
  clock3: '🕒',
  stopwatch: '⏱️',
  page_facing_up: '📄',
  memo: '📝',
  bar_chart: '📊',
  construction: '🚧',
  shield: '🛡️',
  raised_hand: '✋',
  thumbsup: '👍',
  '+1': '👍',
  tada: '🎉',
  point_right: '👉',
  speech_balloon: '💬',
  robot_face: '🤖',
  question: '❓',
  exclamation: '❗',
}

const disc = (fill: string): ReactNode => <circle cx="10" cy="10" r="8" fill={fill} />
const stroke = { fill: 'none', stroke: '#fff', strokeWidth: 2.4, strokeLinecap: 'round' } as const

// The states an incident shows are drawn, so that they look right without any emoji font.
const drawn: Record<string, ReactNode> = {
  '🔴': disc('#dd2e44'),
  '🟡': disc('#f4c022'),
  '🟢': disc('#3fa65c'),
  '🟠': disc('#f4900c'),
  '🔵': disc('#3b88c3'),
  '⚪': <circle cx="10" cy="10" r="7.5" fill="#e6e7e8" stroke="#99a" />,
  '✅': (
    <>
      <rect x="2" y="2" width="16" height="16" rx="3.5" fill="#3fa65c" />
      <path d="M5.8 10.4l3 3 5.4-6.6" {...stroke} />
    </>
  ),
  '❌': <path d="M5 5l10 10M15 5L5 15" {...stroke} stroke="#dd2e44" strokeWidth={3.2} />,
  '⛔': (
    <>
      {disc('#dd2e44')}
      <rect x="5" y="8.4" width="10" height="3.2" rx="1" fill="#fff" />
    </>
  ),
  '⚠️': (
    <>
      <path d="M10 2.5L18.5 17.5H1.5Z" fill="#f4c022" strokeLinejoin="round" stroke="#f4c022" />
      <path d="M10 8v4.4M10 15v.1" stroke="#1d1c1d" strokeWidth="2" strokeLinecap="round" />
    </>
  ),
  '⏳': (
    <>
      <path d="M5 2.5h10M5 17.5h10" stroke="#8a6d3b" strokeWidth="2" strokeLinecap="round" />
      <path
        d="M6 3c0 4 3 5 3.4 7C9 12 6 13 6 17h8c0-4-3-5-3.4-7 .4-2 3.4-3 3.4-7Z"
        fill="#f2d49b"
        stroke="#c79a4b"
      />
    </>
  ),
  '▫️': <rect x="6" y="6" width="8" height="8" rx="1" fill="none" stroke="#99a" strokeWidth="1.6" />,
  '🔒': (
    <>
      <path d="M6.5 9V7a3.5 3.5 0 017 0v2" fill="none" stroke="#8899a6" strokeWidth="2" />
      <rect x="4" y="9" width="12" height="8.5" rx="1.5" fill="#f4c022" />
    </>
  ),
  '📎': (
    <path
      d="M13.5 6.5l-6 6a2 2 0 003 3l6-6.2a4 4 0 00-5.8-5.6l-6 6.2a6 6 0 008.4 8.5"
      fill="none"
      stroke="#8899a6"
      strokeWidth="1.6"
      strokeLinecap="round"
      transform="translate(-1 -1)"
    />
  ),
  '⏸️': (
    <>
      <rect x="2" y="2" width="16" height="16" rx="3.5" fill="#3b88c3" />
      <path d="M7.5 6v8M12.5 6v8" {...stroke} />
    </>
  ),
  '👀': (
    <>
      <ellipse cx="6" cy="10" rx="3.8" ry="5.5" fill="#fff" stroke="#99a" />
      <ellipse cx="14" cy="10" rx="3.8" ry="5.5" fill="#fff" stroke="#99a" />
      <circle cx="7.2" cy="10.5" r="2" fill="#292f33" />
      <circle cx="15.2" cy="10.5" r="2" fill="#292f33" />
    </>
  ),
}
drawn['⚠'] = drawn['⚠️']
drawn['▫'] = drawn['▫️']
drawn['⏸'] = drawn['⏸️']

export function Emoji({ code, char }: { code?: string; char?: string }): ReactNode {
  const text = char ?? unicode[code ?? ''] ?? `:${code ?? ''}:`
  const picture = drawn[text]
  if (picture === undefined) return <span className="emoji">{text}</span>
  return (
    <svg className="emoji" viewBox="0 0 20 20" role="img" aria-label={text}>
      <title>{code === undefined ? text : `:${code}:`}</title>
      {picture}
    </svg>
  )
}

const pattern = new RegExp(
  `:([a-z0-9_+'-]+):|(${Object.keys(drawn)
    .toSorted((a, b) => b.length - a.length)
    .join('|')})`,
  'u',
)

/** Text with its emoji; `10:40:22` is no emoji, because 40 is not one. */
export function withEmoji(text: string): ReactNode[] {
  const parts: ReactNode[] = []
  let rest = text
  while (rest !== '') {
    const match = pattern.exec(rest)
    if (match === null) break
    const [whole, code, char] = match
    const end = match.index + whole.length
    if (code !== undefined && unicode[code] === undefined) {
      // The second colon may open the next code.
      parts.push(rest.slice(0, end - 1))
      rest = rest.slice(end - 1)
      continue
    }
    parts.push(rest.slice(0, match.index))
    parts.push(<Emoji key={parts.length} {...(code === undefined ? { char: char ?? '' } : { code })} />)
    rest = rest.slice(end)
  }
  return [...parts, rest]
}
