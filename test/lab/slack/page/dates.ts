// Everything is shown in UTC: the same story looks the same on every machine.

const format = (options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat =>
  new Intl.DateTimeFormat('en-GB', { timeZone: 'UTC', ...options })

const time = format({ hour: '2-digit', minute: '2-digit' })
const seconds = format({ hour: '2-digit', minute: '2-digit', second: '2-digit' })
const dateLong = format({ weekday: 'long', day: 'numeric', month: 'long' })
const dateFull = format({ weekday: 'long', day: 'numeric', month: 'long', year: 'numeric' })
const date = format({ day: 'numeric', month: 'long', year: 'numeric' })
const dateShort = format({ day: 'numeric', month: 'short', year: 'numeric' })

const at = (unix: number | string): Date => new Date(Number(unix) * 1000)

export const clockTime = (ts: string): string => time.format(at(ts))
export const fullTime = (ts: string): string => `${dateFull.format(at(ts))} at ${seconds.format(at(ts))} UTC`
export const dayOf = (ts: string): string => dateLong.format(at(ts))

const ago = (unix: number): string => {
  const minutes = Math.round((Date.now() / 1000 - unix) / 60)
  if (minutes < 1) return 'just now'
  if (minutes < 60) return `${minutes} min ago`
  return minutes < 1440 ? `${Math.round(minutes / 60)} h ago` : `${Math.round(minutes / 1440)} days ago`
}

const tokens: Record<string, (unix: number) => string> = {
  date_num: unix => at(unix).toISOString().slice(0, 10),
  date: unix => date.format(at(unix)),
  date_short: unix => dateShort.format(at(unix)),
  date_long: unix => dateFull.format(at(unix)),
  date_pretty: unix => date.format(at(unix)),
  date_short_pretty: unix => dateShort.format(at(unix)),
  date_long_pretty: unix => dateFull.format(at(unix)),
  time: unix => time.format(at(unix)),
  time_secs: unix => seconds.format(at(unix)),
  ago,
}

/** Slack's `{date} at {time}`; a token it does not know stays as it is. */
export const slackDate = (unix: number, pattern: string): string =>
  pattern.replaceAll(/\{(\w+)\}/g, (whole, token: string) => tokens[token]?.(unix) ?? whole)
