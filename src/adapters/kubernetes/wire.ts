/**
 * The package's model of an object as it really arrives: its typed calls make `Date`s of times, raw JSON (our lists
 * and watches) holds strings.
 */
export type Wire<T> = T extends Date
  ? Date | string
  : T extends (infer E)[]
    ? Wire<E>[]
    : T extends object
      ? { [K in keyof T]: Wire<T[K]> }
      : T

/** Milliseconds since 1970; undefined for a time that is missing or none. */
export const millis = (time: Date | string | null | undefined): number | undefined => {
  if (time === undefined || time === null) return undefined
  const ms = time instanceof Date ? time.getTime() : Date.parse(time)
  return Number.isNaN(ms) ? undefined : ms
}

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null
