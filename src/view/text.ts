import { withoutSecrets } from '../core/secrets.js'

/**
 * Words before they are marked up. Everything that is shown passes through here as plain strings and a few marks, and is
 * escaped only where it is rendered, so text from a node or a cluster can never become a mention, a link or a code end.
 */
export type Span = string | { strong: string } | { code: string } | { mention: string }
export type Text = readonly Span[]

type Piece = string | number | Span | Text

const isText = (piece: Piece): piece is Text => Array.isArray(piece)

/** `t` builds a Text from a template; what is put in may be a string, a number, a span or another Text. */
export const t = (parts: TemplateStringsArray, ...pieces: Piece[]): Text =>
  parts.flatMap((part, i): Span[] => {
    const piece = pieces[i]
    const before: Span[] = part === '' ? [] : [part]
    if (piece === undefined) return before
    if (isText(piece)) return [...before, ...piece]
    return [...before, typeof piece === 'number' ? String(piece) : piece]
  })

export const strong = (text: string | number): Span => ({ strong: String(text) })
export const code = (text: string): Span => ({ code: text })

/** Slack folds plain spaces at the start of a line; this one it keeps. A terminal gets spaces. */
export const indent = '\u2003'

const slackId = /^[UW][A-Z0-9]{2,}$/

/** A Slack user id becomes a mention, any other actor (`cnibot`) stays a word. */
export const person = (actor: string): Span => (slackId.test(actor) ? { mention: `<@${actor}>` } : actor)

const settingMention = /(<!subteam\^[A-Z0-9]+(?:\|[^<>]*)?>|<@[UW][A-Z0-9]+>)/

/** Names from our own settings: `@sre-oncall` as it is, `<!subteam^S…>` and `<@U…>` as the mentions they are. */
export const named = (setting: string): Text =>
  setting
    .split(settingMention)
    .filter(part => part !== '')
    .map(part => (settingMention.test(part) ? { mention: part } : part))

const namedInFull = 3

/** A long list in one line: the first of them and how many more. The plan that asks names them all. */
export const namedInShort = (setting: string): Text => {
  const names = setting.split(', ')
  const more = names.length - namedInFull
  return more <= 0 ? named(setting) : t`${named(names.slice(0, namedInFull).join(', '))} and ${more} more`
}

export const joined = (texts: readonly Text[], separator: string): Text =>
  texts.flatMap((text, i): Span[] => (i === 0 ? [...text] : [separator, ...text]))

const terminalCode = /(?![\n\r\t])\p{Cc}(\[[0-?]*[ -/]*[@-~]|\][^\p{Cc}]*(\p{Cc}\\?)?)/gu
const invisible = /(?!\n)[\p{Cc}\p{Cf}\u2028\u2029]/gu

/**
 * Terminal codes, control characters and invisible direction marks removed, tabs and carriage returns made spaces; then
 * what looks like a secret removed, so that no control character can hide one.
 */
export const clean = (text: string): string => withoutSecrets(plainText.test(text) ? text : cleaned(text))

// Most text is this, and long lists have much of it.
const plainText = /^[ -~\n]*$/

const cleaned = (text: string): string =>
  text
    .replace(terminalCode, '')
    .replace(/\r\n/g, '\n')
    .replace(/[\t\r]/g, ' ')
    .replace(invisible, '')

/** `clean`, on one line. */
export const oneLine = (text: string): string => clean(text).replace(/\s+/g, ' ').trim()

/** Slack's three, in the order that does not escape twice. */
const escaped = (text: string): string =>
  clean(text).replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;')

// A backtick from outside would open or close a code span; nothing can escape it, so it is shown as an apostrophe.
const tame = (text: string): string => escaped(text).replace(/`/g, 'ʼ')

const spanAsMrkdwn = (span: Span): string => {
  if (typeof span === 'string') return tame(span)
  if ('strong' in span) return span.strong === '' ? '' : `*${tame(span.strong).replace(/\*/g, '∗')}*`
  if ('code' in span) return span.code === '' ? '' : `\`${tame(span.code).replace(/\s+/g, ' ')}\``
  return span.mention
}

export const asMrkdwn = (text: Text): string => text.map(spanAsMrkdwn).join('')

const spanAsPlain = (span: Span): string => {
  if (typeof span === 'string') return span
  if ('strong' in span) return span.strong
  return 'code' in span ? span.code : span.mention
}

/** For files, headers and rich text: nothing to escape there, nothing marked. */
export const asPlain = (text: Text): string => clean(text.map(spanAsPlain).join('')).replaceAll(indent, '  ')

const bold = (text: string): string => `\u001b[1m${text}\u001b[22m`
const dim = (text: string): string => `\u001b[2m${text}\u001b[22m`

export const asTerminal = (text: Text, colour: boolean): string =>
  text
    .map(span => {
      const words = asPlain([span])
      if (!colour || typeof span === 'string') return words
      return 'strong' in span ? bold(words) : dim(words)
    })
    .join('')

const shorter = (span: Span, by: number): Span => {
  const cut = (text: string): string => `${text.slice(0, Math.max(0, text.length - by - 1))}…`
  if (typeof span === 'string') return cut(span)
  if ('strong' in span) return { strong: cut(span.strong) }
  return 'code' in span ? { code: cut(span.code) } : span
}

const lengthOf = (span: Span): number =>
  typeof span !== 'string' && 'mention' in span ? 0 : spanAsPlain(span).length

const cleanSpan = (span: Span): Span => {
  if (typeof span === 'string') return clean(span)
  if ('strong' in span) return { strong: clean(span.strong) }
  return 'code' in span ? { code: clean(span.code) } : span
}

/** Cuts the longest part until the rendered text has at most `max` characters. */
export const fitted = (text: Text, max: number): Text => {
  // Cleaned before it is cut: half a secret is no longer known as one.
  let spans = text.map(cleanSpan)
  for (let rounds = 0; rounds < 50; rounds++) {
    const excess = asMrkdwn(spans).length - max
    if (excess <= 0) return spans
    const longest = spans.reduce(
      (best, span, i) => (lengthOf(span) > lengthOf(spans[best] ?? '') ? i : best),
      0,
    )
    spans = spans.map((span, i) => (i === longest ? shorter(span, Math.max(1, Math.ceil(excess / 5))) : span))
  }
  return ['…']
}

/** `1 Pod`, `3 Pods`. */
export const many = (n: number, one: string, more = `${one}s`): string => `${n} ${n === 1 ? one : more}`
