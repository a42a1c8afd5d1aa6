import { existsSync, readFileSync } from 'node:fs'
import { mergeSandboxEvents, sandboxEvent } from '../../../src/adapters/kubernetes/sandbox-events.js'
import {
  type Bundle,
  type JournalLine,
  known,
  type SandboxEvents,
} from '../../../src/core/evidence/bundle.js'
import { isAddFailure, isAddSuccess, isDelFailure } from '../../../src/core/evidence/parse/journal.js'
import { realCapture } from '../real-capture.js'

type WireEvent = Parameters<typeof sandboxEvent>[0]

const fixtures = 'test/fixtures'
/** containerd's three starts of that day; before each its state was lost under load. */
const starts = ['15:19:09', '15:20:19', '15:23:34'].map(time => Date.parse(`2026-11-30T${time}Z`))

const eventsOf = (moment: string): SandboxEvents[] => {
  const file = `${fixtures}/real-cluster/${moment}/events.json`
  if (!existsSync(file)) return []
  const { items } = JSON.parse(readFileSync(file, 'utf8')) as { items: WireEvent[] }
  return mergeSandboxEvents(items.map(sandboxEvent))
}

/** The lines about ADD and DEL that the probe would keep of a journal as it was printed. */
export const journalOf = (folder: string): JournalLine[] =>
  ['containerd', 'kubelet'].flatMap(unit =>
    readFileSync(`${fixtures}/${folder}/${unit}.txt`, 'utf8')
      .split('\n')
      .filter(line => isDelFailure(line) || isAddFailure(line) || isAddSuccess(line))
      .map(line => ({ at: Date.parse(line.slice(0, 31)), unit, text: line.replace(/^\S+ \S+ \S+: /, '') })),
  )

export interface MomentOptions {
  /** The folder of its store, where it is that of another moment. */
  store?: string
  afterMs?: number
  journal?: string
  /** Whether the runtime's own records were read: they were not captured; those of the listed sandboxes stand for them. */
  records?: boolean
}

/** A captured moment with what the API, the journal and the runtime said around it. */
export const momentBundle = (name: string, options: MomentOptions = {}): Bundle => {
  const folder = options.store ?? name
  const base = realCapture(folder, {
    pods: existsSync(`${fixtures}/real-cluster/${folder}/pods.json`),
    ...(options.afterMs !== undefined && { afterMs: options.afterMs }),
  })
  const at = base.collectedAt
  const sandboxes = 'value' in base.sandboxes ? base.sandboxes.value : []
  const lines = (options.journal === undefined ? [] : journalOf(options.journal)).sort((a, b) => a.at - b.at)
  return {
    ...base,
    facts: known(
      {
        name: base.node,
        uid: 'uid',
        bootId: 'boot-1',
        internalIp: '10.250.0.7',
        conditions: [{ type: 'Ready', status: 'True', reason: 'KubeletReady', message: '' }],
        unschedulable: false,
        taints: [],
        maxPods: 110,
        podCidrs: [base.node === 'node-09' ? '10.244.9.0/24' : '10.244.7.0/24'],
        runtimeVersion: 'containerd://2.1.9',
        kubeletVersion: 'v1.36.2',
        labels: {},
        cordonedBy: undefined,
        createdAt: Date.UTC(2026, 10, 30, 15),
      },
      at,
    ),
    events: known(eventsOf(name), at),
    rollouts: known([], at),
    held: known([], at),
    journal: known(
      {
        units: ['containerd', 'kubelet'],
        since: at - 24 * 3_600_000,
        until: at,
        reachesBackTo: Date.UTC(2026, 10, 30, 15),
        lines,
        dropped: 0,
      },
      at,
    ),
    restarts: known(
      { runtime: base.node === 'node-07' ? starts.filter(start => start <= at) : [], kubelet: [], boots: [] },
      at,
    ),
    ...(options.records === true && {
      records: known({ source: 'ctr -n k8s.io containers ls -q', ids: sandboxes.map(({ id }) => id) }, at),
    }),
  }
}
