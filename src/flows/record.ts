import { type History, type Job, type Jobs, Unreachable } from '../ports.js'

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

/**
 * Work that follows from what was written. It cannot be taken back by a queue that does not answer: `resume` asks for it
 * again. Answers the sentence for the person who waits, undefined where all went well.
 */
export const enqueueRecorded = async (jobs: Jobs, wanted: readonly Job[]): Promise<string | undefined> => {
  try {
    for (const job of wanted) await jobs.enqueue(job)
    return undefined
  } catch (error) {
    if (!(error instanceof Unreachable)) throw error
    return 'Recorded. The queue does not answer just now; it begins by itself as soon as it does.'
  }
}
