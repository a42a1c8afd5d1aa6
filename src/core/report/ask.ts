import type { CommandSeen, Line, LineSource, Report } from './report.js'

/** Lines in which this stands, all sources or those named. */
export const linesWith = (report: Report, pattern: RegExp, ...from: LineSource[]): Line[] =>
  report.lines.filter(
    line => (from.length === 0 || from.includes(line.from)) && pattern.test(bounded(line.text)),
  )

/** What a machine or a person said as a message: events, journal and agent logs, no command's output. */
export const messagesWith = (report: Report, pattern: RegExp): Line[] =>
  linesWith(report, pattern, 'event', 'journal', 'agent-log')

/** Commands whose own words match. */
export const commandsLike = (report: Report, pattern: RegExp): CommandSeen[] =>
  report.commands.filter(({ cmd }) => pattern.test(bounded(cmd)))

/** No line is looked at beyond this: messages decide in their first kilobytes. */
const bounded = (text: string): string => (text.length > 8_192 ? text.slice(0, 8_192) : text)

/** A piece of a line for a sentence: one line, no control characters, cut. The view quotes it again for its own markup. */
export const quoted = (text: string, most = 160): string => {
  const flat = bounded(text)
    .replaceAll(/[\p{Cc}\p{Cf}]+/gu, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim()
  return `"${flat.length > most ? `${flat.slice(0, most - 1)}…` : flat}"`
}

/** The environment's words under any of these keys, in lower case; '' where none was told. */
export const told = (report: Report, ...keys: string[]): string =>
  keys
    .map(key => report.environment.get(key)?.toLowerCase() ?? '')
    .join(' ')
    .trim()
