/** The shape of a line as it was written down. */
export type LogShape = 'klog' | 'klog-structured' | 'logrus' | 'json' | 'agent' | 'event' | 'plain'

/** A message without what was put around it. */
export interface PlainText {
  /** Prefixes stripped, quoting undone, several lines in one. */
  text: string
  /** The same length, in ASCII lower case. */
  lower: string
  /** Of the outermost line. */
  shape: LogShape
  /** How often the text was quoted: 0 for `"`, 1 for `\"`, 2 for `\\\"`, … */
  quoting: number
  /** The name before the colon in a journal's line, as written: kubelet, containerd, … */
  program: string | undefined
  /** The kubelet's "(combined from similar events): ". */
  combined: boolean
  /** An event's reason where a row of `kubectl get events` or `describe` was pasted. */
  reason: string | undefined
}

/** So much of a long text is read: its beginning and its end, where the innermost error stands. */
export const readableChars = { head: 12_000, tail: 4_000 }

const cut = (text: string): string =>
  text.length <= readableChars.head + readableChars.tail
    ? text
    : `${text.slice(0, readableChars.head)}\n${text.slice(-readableChars.tail)}`

/** Backslashes before a quote: 0, 1, 3, 7 for texts quoted 0, 1, 2 and 3 times. */
const quotingOf = (text: string): number => {
  if (!text.includes('\\')) return 0
  const runs = [...text.matchAll(/(\\{1,15})["']/g)].map(match => match[1]?.length ?? 0)
  return Math.floor(Math.log2(Math.max(0, ...runs) + 1))
}

const escapes: Record<string, string> = { '003c': '<', '003e': '>', '0026': '&', '0022': '"', '0027': "'" }
const entities: Record<string, string> = { lt: '<', gt: '>', amp: '&', quot: '"' }

const terminalColour = new RegExp(`${String.fromCharCode(27)}\\[[0-9;]{0,12}m`, 'g')

/** Undoes Go's %q, JSON's strings and chat's own marks, however often they were put on top of each other. */
const unquoted = (text: string): string => {
  const straight = text
    .replace(/\r\n?/g, '\n')
    .replace(/[“”„]/g, '"')
    .replace(/[‘’]/g, "'")
    .replace(terminalColour, '')
  const typed = straight.includes('&')
    ? straight.replace(/&(lt|gt|amp|quot);/g, (_, entity: string) => entities[entity] ?? '')
    : straight
  if (!typed.includes('\\')) return typed
  return typed
    .replace(/\\{1,15}u(003[ce]|002[267])/gi, (_, hex: string) => escapes[hex.toLowerCase()] ?? '')
    .replace(/\\{1,15}([nrt])/g, ' ')
    .replace(/\\{1,15}(["'/])/g, '$1')
}

interface Prefix {
  /** Anchored at the start. Group 1, where there is one, is the program, the reason or the level. */
  pattern: RegExp
  shape?: LogShape
  gives?: 'program' | 'reason'
}

/** What journald, syslog, klog, logrus, agents and kubectl put before a message; tried again until none fits. */
const prefixes: Prefix[] = [
  {
    pattern:
      /^[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d(?:\.\d{1,9})? (?:[\w.-]{1,253} )?([\w.@-]{1,64})(?:\[\d{1,10}\])?: {0,8}/,
    gives: 'program',
  },
  {
    pattern:
      /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)? [\w.-]{1,253} ([\w.@-]{1,64})(?:\[\d{1,10}\]:| \d{1,10} - -) {1,8}/,
    gives: 'program',
  },
  { pattern: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d) (?:stderr|stdout) [FP] / },
  {
    pattern: /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} \[[A-Z]{4,7}\]\[\d{1,10}\] \S{1,120}(?: \d{1,6})?: /,
    shape: 'agent',
  },
  { pattern: /^([\w.@-]{1,64}) (?=[IWEF]\d{4} \d\d:\d\d:\d\d)/, gives: 'program' },
  {
    pattern: /^[IWEF]\d{4} \d\d:\d\d:\d\d\.\d{1,9} {1,8}(?:\d{1,10} {1,8})?[\w./-]{1,120}:\d{1,6}\] (?=")/,
    shape: 'klog-structured',
  },
  {
    pattern: /^[IWEF]\d{4} \d\d:\d\d:\d\d\.\d{1,9} {1,8}(?:\d{1,10} {1,8})?[\w./-]{1,120}:\d{1,6}\] /,
    shape: 'klog',
  },
  { pattern: /^(?:time="[^"\n]{1,64}" )?level=\w{4,7} (?:msg=")?/, shape: 'logrus' },
  { pattern: /^(?:FATA|ERRO|WARN|INFO|DEBU)\[[^\]\n]{1,64}\] {1,8}/, shape: 'logrus' },
  { pattern: /^(?:Normal|Warning) {1,16}([A-Z][A-Za-z]{2,63}) {1,40}/, shape: 'event', gives: 'reason' },
  { pattern: /^\(combined from similar events\): /, shape: 'event' },
  { pattern: /^[\t ]{1,40}/ },
]

interface Stripped {
  rest: string
  shape: LogShape | undefined
  program: string | undefined
  reason: string | undefined
}

const stripped = (line: string): Stripped => {
  const found: Stripped = { rest: line, shape: undefined, program: undefined, reason: undefined }
  for (let round = 0; round < 6; round++) {
    const hit = prefixes
      .map(prefix => ({ prefix, match: prefix.pattern.exec(found.rest) }))
      .find(({ match }) => match !== null)
    if (hit?.match == null) break
    found.shape ??= hit.prefix.shape
    if (hit.prefix.gives) found[hit.prefix.gives] ??= hit.match[1]
    found.rest = found.rest.slice(hit.match[0].length)
  }
  return found
}

/** Which line of which file wrote a message changes with every release and is dropped before anything is matched. */
const withoutPlaces = (text: string): string =>
  text.includes('.go:') ? text.replace(/[\w./-]{1,120}\.go:\d{1,6}(?:\]|:)?/g, '') : text

const fromJson = (text: string): string | undefined =>
  /"(?:SYSLOG_IDENTIFIER|_COMM|logger|component)" ?: ?"([\w.@-]{1,64})"/.exec(text)?.[1]

/** Letters whose lower case is longer would shift every place behind them. */
const lowerOf = (text: string): string => {
  const lower = text.toLowerCase()
  return lower.length === text.length ? lower : text.replace(/[A-Z]+/g, letters => letters.toLowerCase())
}

/** Reads one message of any shape; of several lines, each loses its own prefix and they become one. */
export const plainText = (raw: string): PlainText => {
  const some = cut(raw)
  const lines = unquoted(some)
    .split('\n')
    .filter(line => line.trim() !== '')
    .map(line => stripped(line))
  const json = /^\s{0,40}\{ ?"/.test(some)
  const joined = lines.map(({ rest }) => rest.trim()).join(' ')
  const text = withoutPlaces(joined).trim()
  return {
    text,
    lower: lowerOf(text),
    shape: json ? 'json' : (lines.find(({ shape }) => shape !== undefined)?.shape ?? 'plain'),
    quoting: quotingOf(some),
    program:
      lines.find(({ program }) => program !== undefined)?.program ?? (json ? fromJson(text) : undefined),
    combined: some.includes('(combined from similar events): '),
    reason: lines.find(({ reason }) => reason !== undefined)?.reason,
  }
}
