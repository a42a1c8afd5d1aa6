import { shownDuration } from '../duration.js'
import { type Answer, type Bundle, isKnown, type Journal, type SandboxEvents } from '../evidence/bundle.js'
import { isDelFailure } from '../evidence/parse/journal.js'
import { type Gap, measure } from '../ipam/gap.js'
import { once } from '../report/once.js'
import { type CniMessage, readCniMessage } from './cni-message.js'
import { type JournalBand, journalBand } from './journal-band.js'

export interface ReadEvent {
  event: SandboxEvents
  reading: CniMessage
}

/** A bundle with what every rule needs read out of it once. */
export interface Facts {
  bundle: Bundle
  gap: Answer<Gap>
  /** FailedCreatePodSandBox of this node, newest first. */
  events: ReadEvent[]
  /** Those that are still happening. */
  fresh: ReadEvent[]
  journal: Journal | undefined
  band: JournalBand | undefined
  /** Empty address files: nobody's, no DEL ever matches them. */
  emptyFiles: number
}

/** The kubelet tries again every 12 to 15 s and the folded event follows; what is older than this has stopped. */
const freshMs = 10 * 60_000
/** A runtime that answers now was only restarting when it refused the kubelet minutes ago. */
const restartMs = 60_000

/** Whether what an event tells was still going on when the bundle was made. */
export const isHappening = (
  { collectedAt, sandboxes }: Pick<Bundle, 'collectedAt' | 'sandboxes'>,
  last: number,
  { kind }: CniMessage,
): boolean => collectedAt - last <= (kind === 'runtime-down' && isKnown(sandboxes) ? restartMs : freshMs)

export const factsOf = once((bundle: Bundle): Facts => {
  const gap = measure(bundle)
  const events = (isKnown(bundle.events) ? bundle.events.value : [])
    .filter(event => event.node === undefined || event.node === bundle.node)
    .toSorted((a, b) => b.last - a.last)
    .map(event => ({ event, reading: readCniMessage(event.message) }))
  const journal = isKnown(bundle.journal) ? bundle.journal.value : undefined
  return {
    bundle,
    gap,
    events,
    fresh: events.filter(({ event, reading }) => isHappening(bundle, event.last, reading)),
    journal,
    band: journal && journalBand(journal, isDelFailure),
    emptyFiles: isKnown(gap)
      ? gap.value.standings.filter(entry => entry.standing === 'foreign' && entry.allocation.owner === '')
          .length
      : 0,
  }
})

/** `2026-10-20 11:49 UTC (15 d ago)`. */
export const moment = (at: number, now: number): string =>
  `${new Date(at).toISOString().slice(0, 16).replace('T', ' ')} UTC (${shownDuration(now - at)} ago)`

/** `1 address`, `2 addresses`. */
export const many = (count: number, one: string, more = `${one}s`): string =>
  `${count} ${count === 1 ? one : more}`

/** `payments/api-1 ×14 in 41 min: says`. */
export const eventLine = ({ event, reading }: ReadEvent): string =>
  `${event.namespace}/${event.pod} ×${event.count} in ${shownDuration(event.last - event.first)}: ${reading.says}`
