import type { V1DaemonSet } from '@kubernetes/client-node'
import type { Rollout } from '../../core/evidence/bundle.js'
import { type RolloutWatch, readRollout } from '../../core/incident/rollout.js'
import type { StuckRollout } from '../../core/incident/symptom.js'
import { ticketId } from '../../core/incident/ticket.js'
import { reasonOf } from './errors.js'
import { readRollouts } from './rollouts.js'
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

/** Follows the DaemonSets whose counters are short, and names the nodes that hold them up. */
export class RolloutSymptoms {
  readonly #options: FollowOptions
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
    const { kube, clock, settings } = this.#options
    const daemonSets = [...this.#daemonSets.values()]
    const rollouts = await readRollouts(kube, daemonSets, clock.now())
    const lacking = new Set<string>()
    for (const rollout of rollouts) {
      const previous = this.#watches.get(rollout.uid)
      const reading = readRollout(previous, rollout, clock.now(), settings.rolloutStuckAfterMs)
      this.#watches.set(rollout.uid, reading.watch)
      for (const { node } of rollout.missing) lacking.add(keyOf({ ...named(rollout), node }))
      for (const symptom of reading.stuck) await this.#report(symptom)
    }
    for (const uid of this.#watches.keys()) if (!this.#daemonSets.has(uid)) this.#watches.delete(uid)
    for (const [key, { symptom }] of this.#reported)
      if (!lacking.has(key)) await this.#tellEnd(key, symptom, rollouts)
  }

  async #report(symptom: StuckRollout): Promise<void> {
    // All are Ready and one waits for minReadySeconds: time will tell, there is no trouble.
    if (symptom.ready >= symptom.desired) return
    const key = keyOf(symptom)
    const as = `${symptom.podUid ?? ''} ${symptom.ready}/${symptom.desired}`
    if (this.#reported.get(key)?.as === as || !this.#options.nodeExists(symptom.node)) return
    await this.#options.onSymptom(symptom)
    this.#reported.set(key, { symptom, as })
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

const named = (rollout: Rollout) => ({ workload: { namespace: rollout.namespace, name: rollout.name } })

const keyOf = (of: { workload: { namespace: string; name: string }; node: string }): string =>
  `${of.workload.namespace}/${of.workload.name}@${of.node}`
