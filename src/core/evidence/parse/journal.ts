import { known, unknown, type Answer, type Journal, type JournalLine } from '../bundle.js'
import { readSeconds, type Section } from './frames.js'
import { whyFailed } from './section.js'
import { plain } from './text.js'

// The wordings come from the sources of kubelet, containerd, CRI-O, cri-dockerd, libcni and the plugins; file names and
// line numbers in them change with every release and are never matched. Quotes are dropped first, since the same text
// arrives in three depths of quoting.
const unquoted = (text: string): string => text.replace(/[\\"'`]/g, '').toLowerCase()

const delFailures = [
  /failed to destroy network/,
  /failed to tear ?down (?:pod|network)/,
  /failed to clean up sandbox container/,
  /network teardown failed/,
  /error deleting (?:network\b|\S+ from network)/,
  /error stopping network/,
  /error removing pod \S+ from cni network/,
  /stoppodsandbox \S+ from runtime service failed/,
  /stoppodsandbox from runtime service failed/,
  /stoppodsandbox for \S+ failed/,
  /failed to (?:forcibly )?stop sandbox/,
  /stopping the pod sandbox .*failed/,
  /failed to killpodsandbox|killpodsandboxerror/,
  /failed \(delete\)/,
]
const addFailures = [
  /failed to set ?up (?:network|sandbox|pod)/,
  /failed create pod sandbox|failed to create (?:a )?(?:pod )?(?:network )?sandbox|failed to create pod network sandbox/,
  /failedcreatepodsandbox/,
  /createpodsandbox(?:error| for pod .*failed)/,
  /runpodsandbox from runtime service failed/,
  /runpodsandbox for .*failed/,
  /error adding (?:network\b|pod\b|container to network|\S+ to (?:cni )?network)/,
  /failed \(add\)/,
  /setupnetworkerror/,
  /failed to allocate for range/,
  /no ip addresses available in/,
  /still waiting for readinessindicatorfile/,
  /rpc error: .*failed to setup network/,
]
/** The runtime could not be reached at all: no plugin was asked. */
const notAsked = /code = unavailable|connection refused.*containerd\.sock|crio\.sock.*connection refused/

const some = (patterns: RegExp[], text: string): boolean => patterns.some(pattern => pattern.test(text))

/** Whether one journal line says that a CNI DEL failed. */
export const isDelFailure = (text: string): boolean => {
  const line = unquoted(text)
  if (!some(delFailures, line)) return false
  return !notAsked.test(line) || /destroy network|tear ?down|from (?:cni )?network/.test(line)
}

/** Whether one line says that a sandbox, and so its ADD, succeeded. */
export const isAddSuccess = (text: string): boolean =>
  /runpodsandbox for .* returns sandbox id|ran pod sandbox [0-9a-f]{12}/.test(unquoted(text))

/** Whether one line says that a sandbox could not be made; lines about a failed DEL are not among them. */
export const isAddFailure = (text: string): boolean =>
  !isDelFailure(text) && some(addFailures, unquoted(text))

const isAboutCni = (text: string): boolean => isDelFailure(text) || isAddSuccess(text) || isAddFailure(text)

/** Starts of a service, as systemd and the programs themselves say it. */
const starts =
  /systemd\[1\]: Started |msg="starting containerd"|"?Kubelet version"?|Starting CRI-O|Starting k3s|Starting rke2/i

interface Raw {
  unit: string
  at: number
  text: string
  bySystemd: boolean
}

/** klog's `E1130 15:25:25.392422`, which has no year: the one that makes it fall before `until`. */
const klogTime = (text: string, until: number): number | undefined => {
  const match = /^[IWEF](\d\d)(\d\d) (\d\d:\d\d:\d\d\.\d{3})/.exec(text)
  if (match === null) return undefined
  const year = new Date(until).getUTCFullYear()
  const inYear = (y: number) => Date.parse(`${y}-${match[1]}-${match[2]}T${match[3]}Z`)
  const at = inYear(year) > until + 86_400_000 ? inYear(year - 1) : inYear(year)
  return Number.isNaN(at) ? undefined : at
}

const mostLetters = 1_000
/** Per unit the probe keeps some 6,000 lines. */
const mostLines = 20_000

/** `1796052325.391 node-07 containerd[90242]: text` of journalctl, or a line of a log file. */
const readLine = (unit: string, whole: string, until: number): Raw | undefined => {
  // The probe cuts at 900; what is longer is not from it, and patterns would take long over it.
  const line = whole.slice(0, mostLetters)
  if (unit.startsWith('/')) {
    const stamp = /\btime="([^"]+)"/.exec(line)?.[1]
    const at = stamp === undefined ? klogTime(line, until) : Date.parse(stamp)
    return at === undefined || Number.isNaN(at) ? undefined : { unit, at, text: line, bySystemd: false }
  }
  const match = /^(\d{1,12}\.\d+) \S+ ([^:[\s]+)(?:\[\d+\])?: ?(.*)$/.exec(line)
  const at = readSeconds(match?.[1])
  if (match === null || at === undefined) return undefined
  return { unit, at, text: match[3] ?? '', bySystemd: match[2] === 'systemd' }
}

export interface JournalAnswer {
  journal: Answer<Journal>
  /** Starts of each unit within the window, oldest first; one start is named once. */
  starts: { unit: string; at: number }[]
}

/** systemd's own word where it is there, else the program's: both within seconds of the same start. */
const startsOf = (lines: Raw[]): { unit: string; at: number }[] => {
  const units = new Set(lines.map(({ unit }) => unit))
  return [...units].flatMap(unit => {
    const mine = lines.filter(line => line.unit === unit)
    const bySystemd = mine.filter(line => line.bySystemd)
    return (bySystemd.length > 0 ? bySystemd : mine).map(({ at }) => ({ unit, at }))
  })
}

interface Parts {
  since: number | undefined
  until: number | undefined
  raw: Raw[]
  oldest: number[]
  failed: { unit: string; code: number } | undefined
  dropped: number
  units: string[]
}

const wholeNumber = (text: string): number | undefined => (/^\d{1,9}$/.test(text) ? Number(text) : undefined)

const readParts = (body: string): Parts => {
  const parts: Parts = {
    since: undefined,
    until: undefined,
    raw: [],
    oldest: [],
    failed: undefined,
    dropped: 0,
    units: [],
  }
  for (const line of body.split('\n')) {
    if (parts.raw.length + parts.units.length + parts.oldest.length > mostLines) {
      parts.dropped += 1
      continue
    }
    const [head = '', ...rest] = line.split('\t')
    const until = parts.until ?? Number.MAX_SAFE_INTEGER
    if (line.startsWith('window ')) {
      const [, since, end] = line.split(' ')
      parts.since = readSeconds(since)
      parts.until = readSeconds(end)
    } else if (head.startsWith('!')) {
      const [code = '0', dropped = '0'] = rest
      parts.units.push(plain(head.slice(1), 200))
      parts.dropped += wholeNumber(dropped) ?? 0
      if (code !== '0') parts.failed ??= { unit: head.slice(1), code: wholeNumber(code) ?? 1 }
    } else if (head === 'oldest') {
      const first = readLine(rest[0] ?? '', rest.slice(1).join('\t'), until)
      if (first !== undefined) parts.oldest.push(first.at)
    } else if (rest.length > 0) {
      const read = readLine(head, rest.join('\t'), until)
      if (read !== undefined) parts.raw.push(read)
    }
  }
  return parts
}

/**
 * Lines about ADD and DEL, already filtered on the node, oldest first. A unit whose journal could not be read makes the
 * whole unknown: no line is then no proof of no failure. `reachesBackTo` is that of the unit that reaches least far.
 */
export const readJournal = (section: Section, at: number): JournalAnswer => {
  const asked = 'the journal of the runtime and the kubelet'
  const fail = (reason: string): JournalAnswer => ({ journal: unknown(reason, at), starts: [] })
  if (section.code !== 0) return fail(whyFailed(asked, section))
  const { since, until, raw, oldest, failed, dropped, units } = readParts(section.body)
  if (since === undefined || until === undefined) return fail(`${asked}: the answer names no time window`)
  if (failed !== undefined)
    return fail(whyFailed(`the journal of ${plain(failed.unit)}`, { ...section, code: failed.code }))
  const inside = raw.filter(line => line.at >= since && line.at <= until + 1000).sort((a, b) => a.at - b.at)
  const lines: JournalLine[] = inside
    .filter(({ text, bySystemd }) => !bySystemd && isAboutCni(text))
    .map(line => ({ at: line.at, unit: plain(line.unit, 200), text: plain(line.text, 900) }))
  const begun = inside.filter(({ text, bySystemd }) => bySystemd || starts.test(text))
  const reachesBackTo =
    oldest.length === 0 ? undefined : oldest.reduce((latest, each) => Math.max(latest, each))
  return {
    journal: known({ units, since, until, reachesBackTo, lines, dropped }, at),
    starts: startsOf(begun),
  }
}
