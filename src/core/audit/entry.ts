import { createHash } from 'node:crypto'
import { type IncidentEventType, nodeOfIncident } from '../incident/incident.js'
import { canonical } from '../runbook/plan.js'
import type { Actor } from '../runbook/run.js'
import { withoutSecrets } from '../secrets.js'

/** Everything in a run's history is a plan, a decision or a deed, but notes of how far a long step is that name no eviction. */
const ofRun = ({ type, evicted }: Read): boolean => type !== 'StepProgressed' || evicted !== undefined

/** Which nodes are under repair follows from the runs; what else is decided for all nodes, a pause above all, counts. */
const notOfFleet = ['Taken', 'Freed']

/** Of an incident: what people decided, what a run came to, and what the count after it showed. */
const ofIncident: Record<IncidentEventType, boolean> = {
  SymptomSeen: false,
  SymptomGone: false,
  EvidenceWanted: false,
  EvidenceCollected: false,
  Opened: false,
  MeasuredClean: false,
  ComparisonWanted: false,
  RepairsCompared: true,
  RunOpened: true,
  RunEnded: true,
  Held: true,
  Released: true,
  Escalated: true,
  TakenBack: true,
  ClosedByHand: true,
  Recounted: true,
}

/** The part of any event that an entry is made from. Events of other kinds than these are read in the same way. */
interface Read {
  at: number
  by?: Actor
  type: string
  node?: string
  nodes?: string[]
  key?: string
  index?: number
  digest?: string
  channel?: string
  ts?: string
  name?: string
  plan?: { kind: string; title: string; commands: string[] }
  done?: { kind: string; says: string; changed: boolean; commands: string[] }
  error?: { class: string; message: string }
  runbook?: { name: string; digest: string } | string
  outcome?: string
  matched?: boolean
  evicted?: { pod: string }[]
  to?: string
  escalateTo?: string
  says?: string
  why?: string
  reason?: string
}

/** What one event adds to the record: who, what, on what, with which result. Long lists and outputs by digest only. */
export interface AuditFacts {
  /** Milliseconds since 1970, by the clock of the process that wrote it. */
  at: number
  /** A Slack user id, or `cnibot`. */
  by: Actor
  type: string
  node?: string
  /** The history that holds the event, and its place there, from 0. */
  stream: string
  position: number
  /** SHA-256 of the event's canonical JSON, 64 hex digits. */
  event: string
  /** Index of the runbook's step. */
  step?: number
  kind?: string
  /** Digest of the plan that was made, approved or refused. */
  plan?: string
  /** Where people were shown it: the message, and the digest of what it said then. */
  shown?: { key: string; channel?: string; ts?: string; message?: string; file?: string }
  runbook?: { name: string; digest?: string }
  commands?: string[]
  /** Title, result or reason, in one line. */
  says?: string
  changed?: boolean
  /** Class of the error, where it did not work. */
  failed?: string
  outcome?: string
  /** Whom a person handed it to. */
  to?: string
}

const mostCharacters = 1_000
const short = (text: string): string => {
  const safe = withoutSecrets(text)
  return safe.length <= mostCharacters ? safe : `${safe.slice(0, mostCharacters - 1)}…`
}

export const eventDigest = (event: unknown): string =>
  createHash('sha256').update(canonical(event)).digest('hex')

const kindOf = (stream: string): string => stream.split('/', 1)[0] ?? ''

/**
 * A message counts once it stands in the thread: that is when people can have seen it. A plan's message counts at each
 * change too, other messages are redrawn from what is on the record anyway.
 */
const ofThread = ({ type, key }: Read): boolean => type !== 'Updated' || key?.startsWith('plan-') === true

/** Types that this version does not know are on the record rather than not. */
const isAudited = (stream: string, event: Read): boolean => {
  switch (kindOf(stream)) {
    case 'run':
      return ofRun(event)
    case 'incident':
      return new Map<string, boolean>(Object.entries(ofIncident)).get(event.type) ?? true
    case 'thread':
      return ofThread(event)
    case 'fleet':
      return !notOfFleet.includes(event.type)
    default:
      return false
  }
}

/** `run/node-07.1-r2` and `thread/node-07.1` → `node-07`. */
const nodeOf = (stream: string, event: Read): string | undefined => {
  const name = stream.slice(stream.indexOf('/') + 1)
  switch (kindOf(stream)) {
    case 'incident':
      return name
    case 'run':
      return nodeOfIncident(name.replace(/-r\d+$/, ''))
    case 'thread':
      // A storm's thread is about no node: `fleet/storm-1763461860000`.
      return name.includes('/') ? undefined : nodeOfIncident(name)
    default:
      return event.node
  }
}

const shownBy = ({ type, key, channel, ts, digest, name }: Read): AuditFacts['shown'] =>
  key === undefined
    ? undefined
    : {
        key,
        ...(channel === undefined ? {} : { channel }),
        ...(ts === undefined ? {} : { ts }),
        ...(digest === undefined ? {} : { message: digest }),
        ...(type === 'Attached' && name !== undefined ? { file: name } : {}),
      }

const saidBy = ({ plan, done, error, says, reason, why, nodes, evicted }: Read): string | undefined =>
  (evicted && `evicted: ${evicted.map(({ pod }) => pod).join(', ')}`) ??
  plan?.title ??
  done?.says ??
  error?.message ??
  says ??
  reason ??
  why ??
  nodes?.join(', ')

const runbookOf = ({ runbook }: Read): AuditFacts['runbook'] => {
  if (runbook === undefined) return undefined
  return typeof runbook === 'string' ? { name: runbook } : { name: runbook.name, digest: runbook.digest }
}

/** Leaves out what is undefined: an entry holds only what its event says. */
const present = <T extends object>(facts: { [K in keyof T]: T[K] | undefined }): T =>
  Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== undefined)) as T

/** As of a version that hid less. */
const sameText = (was: unknown, now: unknown): boolean =>
  was === now || (typeof was === 'string' && short(was) === now)

const same = (was: unknown, now: unknown): boolean =>
  Array.isArray(was) && Array.isArray(now)
    ? was.length === now.length && was.every((each, i) => sameText(each, now[i]))
    : sameText(was, now) || canonical(was ?? null) === canonical(now ?? null)

/** Names of what an entry says otherwise than its event does, in either direction; empty where it follows from it. */
export const otherwise = (entry: AuditFacts, made: AuditFacts): string[] => {
  const was = new Map<string, unknown>(Object.entries(entry))
  const now = new Map<string, unknown>(Object.entries(made))
  return [...new Set([...was.keys(), ...now.keys()])].filter(key => !same(was.get(key), now.get(key))).sort()
}

/**
 * The entry for an event at this place of a history; undefined for events that are not on the record. `audit verify` makes every entry
 * anew: what is made of an event must not change from one version to the next.
 */
export const auditFacts = (stream: string, position: number, event: unknown): AuditFacts | undefined => {
  const read = event as Read
  if (!isAudited(stream, read)) return undefined
  const { at, by = 'cnibot', type, index, digest, plan, done, error, matched, outcome } = read
  const shown = kindOf(stream) === 'thread' ? shownBy(read) : undefined
  const says = saidBy(read)
  return present<AuditFacts>({
    at,
    by,
    type,
    node: nodeOf(stream, read),
    stream,
    position,
    event: eventDigest(JSON.parse(JSON.stringify(event))),
    step: index,
    kind: plan?.kind ?? done?.kind,
    plan: shown ? undefined : digest,
    shown,
    runbook: runbookOf(read),
    commands: (plan ?? done)?.commands.map(short),
    says: says === undefined ? undefined : short(says),
    changed: done?.changed,
    failed: error?.class,
    outcome: outcome ?? (matched === undefined ? undefined : matched ? 'matched' : 'grew'),
    to: read.to ?? read.escalateTo,
  })
}
