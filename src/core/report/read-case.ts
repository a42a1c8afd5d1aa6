import { z } from 'zod'
import { readCniMessage } from '../diagnosis/cni-message.js'
import { foldLines } from './fold-lines.js'
import { readDuration } from './duration.js'
import { readPodRow } from './pod-row.js'
import type { Line, Report } from './report.js'

const text = z.coerce.string().max(64 * 1024)
const texts = z.array(text).max(10_000)
const number = z.coerce.number().int().nonnegative()
const lines = z.union([texts, text.transform(one => one.split('\n'))])

const inputs = z.object({
  symptom: text.optional(),
  events: z
    .array(
      z.object({
        type: text.optional(),
        reason: text.optional(),
        from: text.optional(),
        object: text.optional(),
        count: number.optional(),
        over: text.optional(),
        message: text,
      }),
    )
    .max(10_000)
    .optional(),
  pods: lines.optional(),
  node: z
    .object({
      name: text.optional(),
      conditions: z.record(text, text).optional(),
      ready_reason: text.optional(),
      ready_message: text.optional(),
      taints: texts.optional(),
      unschedulable: z.boolean().optional(),
      running_pods: number.optional(),
      max_pods: number.optional(),
    })
    .optional(),
  ipam: z
    .object({
      plugin: text.optional(),
      data_dir: text.optional(),
      subnet: text.optional(),
      count: number.optional(),
      bookkeeping: texts.optional(),
      sample: texts.optional(),
      last_reserved: text.optional(),
    })
    .optional(),
  crictl: z
    .object({
      ready: number.optional(),
      not_ready: number.optional(),
      host_network: number.optional(),
      attached_to_this_network: number.optional(),
      note: text.optional(),
    })
    .optional(),
  journal: z
    .array(z.object({ unit: text.optional(), line: text }))
    .max(100_000)
    .optional(),
  daemonset: z
    .object({
      name: text,
      desired: number.optional(),
      current: number.optional(),
      updated: number.optional(),
      up_to_date: number.optional(),
      ready: number.optional(),
      available: number.optional(),
      missing_node: text.optional(),
      nodes_total: number.optional(),
      host_port: number.optional(),
      strategy: text.optional(),
      note: text.optional(),
    })
    .optional(),
  routes: z.record(text, lines).optional(),
  agent_logs: lines.optional(),
  commands: z
    .array(z.object({ cmd: text, output: lines }))
    .max(1_000)
    .optional(),
})

/** Only what a responder could see: every other key of a case gives the answer away and is dropped here, unread. */
const caseFile = z.object({
  environment: z.record(text, z.unknown()).optional(),
  inputs,
})
type Inputs = z.infer<typeof inputs>

const eventLines = (events: NonNullable<Inputs['events']>): Line[] =>
  events.map(({ type, reason, object, count, over, message }) => ({
    from: 'event',
    source: reason ?? '',
    object,
    count: count ?? 1,
    overMs: over === undefined ? undefined : readDuration(over),
    warning: type !== 'Normal',
    text: message,
    reading: readCniMessage(message),
  }))

const plainLine = (from: Line['from'], source: string, text: string): Line => ({
  from,
  source,
  object: undefined,
  count: 1,
  overMs: undefined,
  warning: false,
  text,
  reading: undefined,
})

const folded = (lines: readonly Line[]): Line[] =>
  foldLines(lines).map(line => ({ ...line, reading: readCniMessage(line.text) }))

const allLines = ({ events = [], journal = [], agent_logs = [], commands = [] }: Inputs): Line[] => [
  ...eventLines(events),
  ...folded(journal.map(({ unit, line }) => plainLine('journal', unit ?? '', line))),
  ...folded(agent_logs.map(line => plainLine('agent-log', '', line))),
  ...commands.flatMap(({ cmd, output }) => foldLines(output.map(line => plainLine('command', cmd, line)))),
]

const nodeOf = ({ node }: Inputs): Report['node'] =>
  node && {
    name: node.name,
    conditions: new Map(Object.entries(node.conditions ?? {})),
    readyReason: node.ready_reason,
    readyMessage: node.ready_message,
    taints: node.taints ?? [],
    unschedulable: node.unschedulable,
    runningPods: node.running_pods,
    maxPods: node.max_pods,
  }

const rolloutOf = ({ daemonset }: Inputs): Report['rollout'] =>
  daemonset && {
    name: daemonset.name,
    desired: daemonset.desired,
    current: daemonset.current,
    updated: daemonset.updated ?? daemonset.up_to_date,
    ready: daemonset.ready,
    available: daemonset.available,
    missingNode: daemonset.missing_node,
    nodesTotal: daemonset.nodes_total,
    hostPort: daemonset.host_port,
    note: daemonset.note,
  }

const storeOf = ({ ipam }: Inputs): Report['store'] =>
  ipam && {
    plugin: ipam.plugin,
    dataDir: ipam.data_dir,
    subnet: ipam.subnet,
    count: ipam.count,
    bookkeeping: ipam.bookkeeping ?? [],
    sample: ipam.sample ?? [],
    byId: undefined,
  }

const sandboxesOf = ({ crictl }: Inputs): Report['sandboxes'] =>
  crictl && {
    ready: crictl.ready,
    notReady: crictl.not_ready,
    hostNetwork: crictl.host_network,
    attached: crictl.attached_to_this_network,
    failed: undefined,
    note: crictl.note,
  }

const shown = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value) ?? ''))

/**
 * Reads a case: `inputs` and `environment` alone. Throws a `z.ZodError` whose issues name the place when a part has
 * another shape.
 */
export const readCase = (value: unknown): Report => {
  const { inputs: seen, environment = {} } = caseFile.parse(value)
  return {
    symptom: seen.symptom,
    environment: new Map(Object.entries(environment).map(([key, what]) => [key.toLowerCase(), shown(what)])),
    lines: allLines(seen),
    pods: (seen.pods ?? []).flatMap(line => readPodRow(line) ?? []),
    node: nodeOf(seen),
    store: storeOf(seen),
    sandboxes: sandboxesOf(seen),
    rollout: rolloutOf(seen),
    routes: Object.entries(seen.routes ?? {}).map(([node, list]) => ({ node, lines: list })),
    commands: seen.commands ?? [],
  }
}
