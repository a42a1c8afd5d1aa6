import type { SandboxEvents } from '../../core/evidence/bundle.js'
import {
  readSymptom,
  type StuckSandbox,
  type WatchedPod,
  type Workload,
} from '../../core/incident/symptom.js'
import { type TicketEnd, ticketId } from '../../core/incident/ticket.js'
import { callUnless } from './call.js'
import { reasonOf } from './errors.js'
import { asked, isDue, type LoadTimings, loadTimings } from './pace.js'
import { readPodWarnings } from './pod-warnings.js'
import { findReplacement, replacementWaitMs } from './replacement.js'
import { latchSandboxEvents, mergeSandboxEvents, type SandboxEvent } from './sandbox-events.js'
import type { FollowOptions, Gone } from './symptom-options.js'
import { asReported, ended, endOf, type Tracked, track, trackedFrom, warningsAreFresh } from './tracked.js'
import { watchedPod } from './translate.js'
import { WorkQueue } from './work-queue.js'

/** Follows the Pods that wait for a sandbox, and those that an event names though they are not Pending. */
export class PodSymptoms {
  readonly #options: FollowOptions
  readonly #load: LoadTimings
  readonly #tracked = new Map<string, Tracked>()
  /** By Pod uid; kept beyond the hour for which the server keeps events. */
  readonly #latched = new Map<string, SandboxEvents>()
  /** Pods named by events that turned out to be none of ours, up to this event. */
  readonly #settled = new Map<string, number>()
  readonly #queue = new WorkQueue(uid => this.#guarded(uid), 4)

  constructor(options: FollowOptions) {
    this.#options = options
    this.#load = { ...loadTimings, ...options.settings.load }
    for (const ticket of options.openTickets ?? []) {
      const tracked = trackedFrom(ticket)
      if (tracked) this.#tracked.set(tracked.pod.uid, tracked)
    }
  }

  get size(): number {
    return this.#tracked.size
  }

  podsChanged(upserted: WatchedPod[], left: WatchedPod[]): void {
    for (const pod of upserted) {
      const known = this.#tracked.get(pod.uid)
      if (known) Object.assign(known, { pod, watched: true, read: undefined, seenUntil: undefined })
      else this.#tracked.set(pod.uid, track(pod, true))
      if (this.#worthALook(pod.uid)) this.#queue.poke(pod.uid)
    }
    for (const { uid } of left) {
      const known = this.#tracked.get(uid)
      if (!known) continue
      known.watched = false
      // Most Pods leave because they have started; one that was reported, or whose sandbox failed, is read again.
      if (known.reported || this.#latched.has(uid)) this.#queue.poke(uid)
      else this.#tracked.delete(uid)
    }
  }

  eventsChanged(changed: SandboxEvent[], all: ReadonlyMap<string, SandboxEvent>): void {
    const pods = new Set(changed.map(event => event.podUid))
    const merged = mergeSandboxEvents([...all.values()].filter(event => pods.has(event.podUid)))
    for (const events of merged) {
      this.#latched.set(events.podUid, latchSandboxEvents(this.#latched.get(events.podUid), events))
      const known = this.#tracked.get(events.podUid)
      if (known) known.read = undefined
      if (events.last > (this.#settled.get(events.podUid) ?? 0)) this.#queue.poke(events.podUid)
    }
  }

  /** What time alone changes: a wait that became too long, a Pod that is not watched, an end that is to be told. */
  tick(events: ReadonlyMap<string, SandboxEvent>): void {
    for (const [uid, tracked] of this.#tracked)
      if (!tracked.watched || tracked.ended || this.#worthALook(uid)) this.#queue.poke(uid)
    const named = new Set([...events.values()].map(event => event.podUid))
    for (const uid of this.#latched.keys()) {
      if (named.has(uid) || this.#tracked.has(uid)) continue
      this.#latched.delete(uid)
      this.#settled.delete(uid)
    }
  }

  idle(): Promise<void> {
    return this.#queue.idle()
  }

  stop(): Promise<void> {
    return this.#queue.stop()
  }

  /** Whether a look could lead to a call; the reading itself is cheap. */
  #worthALook(uid: string): boolean {
    const tracked = this.#tracked.get(uid)
    if (!tracked) return false
    const reading = this.#read(tracked)
    if (reading.kind !== 'stuck') return tracked.reported !== undefined
    return tracked.reported?.as !== asReported(reading.symptom)
  }

  #read(tracked: Tracked) {
    const { clock, settings } = this.#options
    const now = clock.now()
    const others = warningsAreFresh(tracked, now) ? (tracked.warnings?.list ?? []) : []
    const events = { sandbox: this.#latched.get(tracked.pod.uid), others }
    return readSymptom(tracked.pod, events, now, { stuckAfterMs: settings.stuckAfterMs })
  }

  async #guarded(uid: string): Promise<void> {
    try {
      await this.#look(uid)
    } catch (error) {
      this.#options.log.warn(
        { pod_uid: uid, error: reasonOf(error) },
        'a Pod could not be looked at; the next tick tries again',
      )
    }
  }

  async #look(uid: string): Promise<void> {
    const tracked = this.#tracked.get(uid) ?? (await this.#victimOf(uid))
    if (!tracked) return
    if (tracked.ended) return this.#tellEnd(uid, tracked)
    if (!tracked.watched && isDue(tracked.read, this.#options.clock)) await this.#refresh(tracked)
    if (tracked.ended) return this.#tellEnd(uid, tracked)
    const reading = await this.#readWithWarnings(tracked)
    if (reading.kind === 'stuck') return this.#report(tracked, reading.symptom)
    const how = endOf(tracked.pod)
    if (tracked.reported && how) {
      tracked.ended = ended(how, tracked.pod.deletedAt ?? this.#options.clock.now())
      return this.#tellEnd(uid, tracked)
    }
    if (!tracked.watched && reading.kind === 'fine' && !tracked.reported) this.#settle(uid)
  }

  /** A Pod that only an event names: Running without a sandbox, or gone long ago. */
  async #victimOf(uid: string): Promise<Tracked | undefined> {
    const events = this.#latched.get(uid)
    if (!events) return undefined
    const read = asked(this.#options.clock, this.#load.readPodMs)
    const pod = await this.#readPod(events.namespace, events.pod)
    const known = this.#tracked.get(uid)
    if (known) return known
    if (pod?.uid !== uid) {
      this.#settle(uid)
      return undefined
    }
    const tracked = { ...track(pod, false), read, seenUntil: read.shown }
    this.#tracked.set(uid, tracked)
    return tracked
  }

  /** The name may belong to a replacement by now: only the uid tells. */
  async #refresh(tracked: Tracked): Promise<void> {
    const { clock } = this.#options
    const { readPodMs, longestReadPodMs } = this.#load
    // Noted before the call, so that calls that fail are not made more often.
    const doubled = tracked.read ? Math.min(longestReadPodMs, tracked.read.pauseMs * 2) : readPodMs
    const read = asked(clock, doubled)
    tracked.read = read
    const pod = await this.#readPod(tracked.pod.namespace, tracked.pod.name)
    if (tracked.watched) return
    if (pod?.uid === tracked.pod.uid) {
      if (JSON.stringify(pod) !== JSON.stringify(tracked.pod)) read.pauseMs = readPodMs
      tracked.pod = pod
      tracked.seenUntil = read.shown
    } else if (tracked.reported) tracked.ended = ended('deleted', tracked.pod.deletedAt ?? clock.now())
    else this.#settle(tracked.pod.uid)
  }

  async #readPod(namespace: string, name: string): Promise<WatchedPod | undefined> {
    const { kube } = this.#options
    const pod = await callUnless(kube, [404], `read Pod ${namespace}/${name}`, () =>
      kube.core.readNamespacedPod({ namespace, name }),
    )
    return pod && watchedPod(pod)
  }

  /** Without a sandbox event, a long wait may be a volume's or an image's: the Pod's other warnings say so. */
  async #readWithWarnings(tracked: Tracked) {
    const reading = this.#read(tracked)
    const now = this.#options.clock.now()
    if (reading.kind !== 'stuck' || reading.symptom.message !== undefined) return reading
    if (warningsAreFresh(tracked, now)) return reading
    tracked.warnings = { at: now, list: await readPodWarnings(this.#options.kube, tracked.pod) }
    return this.#read(tracked)
  }

  async #report(tracked: Tracked, symptom: StuckSandbox): Promise<void> {
    const as = asReported(symptom)
    if (tracked.reported?.as === as || !this.#options.nodeExists(symptom.node)) return
    const workload = await this.#workload(tracked.pod, symptom.workload)
    await this.#options.onSymptom({ ...symptom, workload })
    tracked.reported = { node: symptom.node, workload, as }
  }

  async #workload(pod: WatchedPod, guess: Workload): Promise<Workload> {
    const labels: Record<string, string> =
      pod.templateHash === undefined ? {} : { 'pod-template-hash': pod.templateHash }
    const { namespace, name, controller } = pod
    const named = await this.#options.cluster
      .workloadOf({ namespace, name, controller, labels })
      .catch(() => guess)
    return { namespace, kind: named.kind, name: named.name }
  }

  /** Told at once, and again when the replacement has started. */
  async #tellEnd(uid: string, tracked: Tracked): Promise<void> {
    const { reported, ended: end, pod } = tracked
    const now = this.#options.clock.now()
    if (!reported || !end || now < end.seekAt) return
    const { how, at } = end
    const { workload, node } = reported
    const gone = (replacement: TicketEnd['replacement']): Gone => ({
      kind: 'stuck-sandbox',
      ticket: ticketId({ workload, podUid: uid }),
      node,
      workload,
      pod: pod.name,
      podUid: uid,
      end: { at, how, replacement },
    })
    const replaceable = how === 'deleted' && workload.kind !== 'Pod'
    const { kube, cluster } = this.#options
    const replacement = replaceable
      ? await findReplacement(kube, cluster, { workload, podUid: uid, at, madeAfter: tracked.seenUntil })
      : undefined
    if (!end.told || replacement) await this.#options.onGone(gone(replacement))
    end.told = true
    // Looked for less and less often: it costs a list of the namespace.
    end.seekAt = now + Math.max(2_000, (now - at) / 2)
    if (!replaceable || replacement || now - at > replacementWaitMs) this.#settle(uid)
  }

  #settle(uid: string): void {
    this.#tracked.delete(uid)
    const last = this.#latched.get(uid)?.last
    if (last !== undefined) this.#settled.set(uid, last)
  }
}
