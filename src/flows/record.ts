import type { History } from '../ports.js'

export interface Written<E> {
  events: E[]
  length: number
  /** False when there was nothing to write. */
  changed: boolean
}

/**
 * Reads a history, asks `decide` what to add, and adds it unless somebody was first; then it decides again on what
 * is true now. `decide` must be a plain function of the events.
 */
export const record = async <E>(
  history: History,
  stream: string,
  decide: (events: E[], length: number) => E[],
): Promise<Written<E>> => {
  for (let attempt = 0; attempt < 50; attempt++) {
    const { events, length } = await history.read<E>(stream)
    const more = decide(events, length)
    if (more.length === 0) return { events, length, changed: false }
    if (await history.append(stream, length, more))
      return { events: [...events, ...more], length: length + more.length, changed: true }
  }
  throw new Error(`${stream}: fifty others were first; giving up`)
}
