import type { V1DaemonSet } from '@kubernetes/client-node'
import type { Rollout } from '../../core/evidence/bundle.js'
import { type RolloutWatch, readRollout } from '../../core/incident/rollout.js'
import type { StuckRollout } from '../../core/incident/symptom.js'
import { ticketId } from '../../core/incident/ticket.js'
import { reasonOf } from './errors.js'
import { type Asked, asked, isDue, loadTimings } from './pace.js'
import { incomplete, readRollouts } from './rollouts.js'
import type { FollowOptions } from './symptom-options.js'
import type { Wire } from './wire.js'
import { WorkQueue } from './work-queue.js'

/** What a rollout is judged by; containers, volumes and managed fields stay behind. */
export const trimDaemonSet = ({ metadata, spec, status }: Wire<V1DaemonSet>): Wire<V1DaemonSet> => {
  const template = spec?.template.spec
  return {
    metadata: keep(metadata, ['namespace', 'name', 'uid', 'generation']),
    ...(spec && {
      spec: {
        ...keep(spec, ['selector', 'minReadySeconds']),
        selector: spec.selector,
        template: {
          ...(template && {
            spec: { ...keep(template, ['nodeSelector', 'affinity', 'tolerations']), containers: [] },
          }),
        },
      },
    }),
    ...(status && { status }),
  }
}

const keep = <T extends object, K extends keyof T>(object: T | undefined, keys: K[]): Partial<Pick<T, K>> => {
  const kept: Partial<Pick<T, K>> = {}
  for (const key of keys) if (object?.[key] !== undefined) kept[key] = object[key]
  return kept
}

/** The last list of a DaemonSet's Pods and what it showed; `rollout` is undefined when the list failed. */
interface Look {
  daemonSet: Wire<V1DaemonSet>
  asked: Asked
  rollout: Rollout | undefined
}

/** Follows the DaemonSets whose counters are short, and names the nodes that hold them up. */
export class RolloutSymptoms {
  readonly #options: FollowOptions
  /** By uid. */
  readonly #looks = new Map<string, Look>()
  readonly #watches = new Map<string, RolloutWatch>()
  /** By DaemonSet and node. */
  readonly #reported = new Map<string, { symptom: StuckRollout; as: string }>()
  #daemonSets: ReadonlyMap<string, Wire<V1DaemonSet>> = new Map()
  /** One look at a time: a second one while the Pods are being listed would see the same. */
  readonly #queue = new WorkQueue(() => this.#guarded(), 1)

  constructor(options: FollowOptions) {
    this.#options = options
    for (const ticket of options.openTickets ?? []) {
      if (ticket.kind !== 'stuck-rollout' || ticket.ended) continue
      const { node, workload, pod, podUid, since, desired = 0, ready = 0 } = ticket
      const symptom: StuckRollout = {
        kind: 'stuck-rollout',
        node,
        workload,
        pod,
        podUid,
        since,
        desired,
        ready,
      }
      this.#reported.set(keyOf(symptom), { symptom, as: '' })
    }
  }

  look(daemonSets: ReadonlyMap<string, Wire<V1DaemonSet>>): void {
    this.#daemonSets = daemonSets
    this.#queue.poke('all')
  }

  idle(): Promise<void> {
    return this.#queue.idle()
  }

  stop(): Promise<void> {
    return this.#queue.stop()
  }

  async #guarded(): Promise<void> {
    try {
      await this.#readAll()
    } catch (error) {
      this.#options.log.warn(
        { error: reasonOf(error) },
        'the rollouts could not be looked at; the next tick tries again',
      )
    }
  }

  async #readAll(): Promise<void> {
    const daemonSets = new Map(this.#daemonSets)
    for (const kept of [this.#looks, this.#watches])
      for (const uid of kept.keys()) if (!daemonSets.has(uid)) kept.delete(uid)
    await this.#list([...daemonSets].filter(entry => this.#isDue(entry)))
    await this.#list([...daemonSets].filter(([uid]) => this.#isOldNews(uid)))
    await this.#tell([...daemonSets.keys()].map(uid => this.#looks.get(uid)?.rollout))
  }

  /** A DaemonSet that is complete costs no call. */
  #isDue([uid, daemonSet]: [string, Wire<V1DaemonSet>]): boolean {
    const look = this.#looks.get(uid)
    return look?.daemonSet !== daemonSet || !incomplete(daemonSet) || isDue(look.asked, this.#options.clock)
  }

  async #list(daemonSets: [string, Wire<V1DaemonSet>][]): Promise<void> {
    if (daemonSets.length === 0) return
    const { kube, clock, settings } = this.#options
    const { listPodsMs } = { ...loadTimings, ...settings.load }
    for (const [uid, daemonSet] of daemonSets)
      this.#looks.set(uid, { daemonSet, asked: asked(clock, listPodsMs), rollout: undefined })
    const all = daemonSets.map(([, daemonSet]) => daemonSet)
    for (const rollout of await readRollouts(kube, all, clock.now())) {
      const look = this.#looks.get(rollout.uid)
      if (look) look.rollout = rollout
    }
  }

  #judge(rollout: Rollout) {
    const { clock, settings } = this.#options
    return readRollout(this.#watches.get(rollout.uid), rollout, clock.now(), settings.rolloutStuckAfterMs)
  }

  /** Nothing is told on a list that is seconds old. */
  #isOldNews(uid: string): boolean {
    const { rollout, asked: last } = this.#looks.get(uid) ?? {}
    if (rollout === undefined || last === undefined) return false
    if (performance.now() - last.real < loadTimings.readPodMs) return false
    return this.#judge(rollout).stuck.some(symptom => this.#isNews(symptom))
  }

  async #tell(looks: (Rollout | undefined)[]): Promise<void> {
    const rollouts = looks.filter(rollout => rollout !== undefined)
    const lacking = new Set<string>()
    for (const rollout of rollouts) {
      const reading = this.#judge(rollout)
      this.#watches.set(rollout.uid, reading.watch)
      for (const { node } of rollout.missing) lacking.add(keyOf({ ...named(rollout), node }))
      for (const symptom of reading.stuck) if (this.#isNews(symptom)) await this.#report(symptom)
    }
    // What could not be listed may still lack its Pod (law 5).
    if (rollouts.length < looks.length) return
    for (const [key, { symptom }] of this.#reported)
      if (!lacking.has(key)) await this.#tellEnd(key, symptom, rollouts)
  }

  #isNews(symptom: StuckRollout): boolean {
    // All are Ready and one waits for minReadySeconds: time will tell, there is no trouble.
    if (symptom.ready >= symptom.desired || !this.#options.nodeExists(symptom.node)) return false
    return this.#reported.get(keyOf(symptom))?.as !== asReported(symptom)
  }

  async #report(symptom: StuckRollout): Promise<void> {
    await this.#options.onSymptom(symptom)
    this.#reported.set(keyOf(symptom), { symptom, as: asReported(symptom) })
  }

  async #tellEnd(key: string, symptom: StuckRollout, rollouts: Rollout[]): Promise<void> {
    const { node, workload, pod, podUid } = symptom
    const exists = rollouts.some(rollout => keyOf({ ...named(rollout), node }) === key)
    const how = exists ? 'rollout-complete' : 'deleted'
    const end = { at: this.#options.clock.now(), how, replacement: undefined } as const
    await this.#options.onGone({
      kind: 'stuck-rollout',
      ticket: ticketId(symptom),
      node,
      workload,
      pod,
      podUid,
      end,
    })
    this.#reported.delete(key)
  }
}

const asReported = ({ podUid, ready, desired }: StuckRollout): string => `${podUid ?? ''} ${ready}/${desired}`

const named = (rollout: Rollout) => ({ workload: { namespace: rollout.namespace, name: rollout.name } })

const keyOf = (of: { workload: { namespace: string; name: string }; node: string }): string =>
  `${of.workload.namespace}/${of.workload.name}@${of.node}`
