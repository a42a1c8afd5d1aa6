import { shownDuration } from '../core/duration.js'

// Making a formatter costs far more than using it, and an attached list has hundreds of times in it.
const formats = new Map<string, Intl.DateTimeFormat>()

const formatOf = (timeZone: string): Intl.DateTimeFormat => {
  const made =
    formats.get(timeZone) ??
    new Intl.DateTimeFormat('en-GB', {
      timeZone,
      hourCycle: 'h23',
      weekday: 'short',
      day: 'numeric',
      month: 'short',
      year: 'numeric',
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
    })
  formats.set(timeZone, made)
  return made
}

const partsOf = (at: number, timeZone: string): Record<string, string> =>
  Object.fromEntries(
    formatOf(timeZone)
      .formatToParts(new Date(at))
      .map(part => [part.type, part.value]),
  )

/** `11:42`. */
export const clock = (at: number, timeZone: string): string => {
  const { hour, minute } = partsOf(at, timeZone)
  return `${hour}:${minute}`
}

/** `11:42:07`. */
export const clockSeconds = (at: number, timeZone: string): string =>
  `${clock(at, timeZone)}:${partsOf(at, timeZone).second}`

/** `Wed 11:42`: for what is less than a week away. */
export const weekday = (at: number, timeZone: string): string =>
  `${partsOf(at, timeZone).weekday} ${clock(at, timeZone)}`

/** `12 Nov 02:13`. */
export const date = (at: number, timeZone: string): string => {
  const { day, month } = partsOf(at, timeZone)
  return `${day} ${month} ${clock(at, timeZone)}`
}

const week = 6 * 86_400_000

/** The weekday when `at` is near `reading`, else the date; always the same words for the same reading. */
export const near = (at: number, reading: number, timeZone: string): string =>
  Math.abs(reading - at) < week ? weekday(at, timeZone) : date(at, timeZone)

const sameDay = (a: number, b: number, timeZone: string): boolean =>
  date(a, timeZone).slice(0, -6) === date(b, timeZone).slice(0, -6) && Math.abs(a - b) < 86_400_000

/** `12 Nov 02:10–02:55`, or both ends in full where they are on two days. */
export const span = (from: number, to: number, reading: number, timeZone: string): string => {
  const start = near(from, reading, timeZone)
  if (clock(from, timeZone) === clock(to, timeZone) && sameDay(from, to, timeZone)) return start
  return `${start}–${sameDay(from, to, timeZone) ? clock(to, timeZone) : near(to, reading, timeZone)}`
}

/** `15 days ago`, `40 min ago`: counted back from the reading, not from the present. */
export const ago = (at: number, reading: number): string => {
  const days = Math.round((reading - at) / 86_400_000)
  return days >= 2 ? `${days} days ago` : `${shownDuration(Math.max(0, reading - at))} ago`
}
