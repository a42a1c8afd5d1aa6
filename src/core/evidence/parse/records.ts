import {
  known,
  unknown,
  type Answer,
  type OwnerAnswer,
  type Runtime,
  type RuntimeRecords,
} from '../bundle.js'
import type { Section } from './frames.js'
import { whyFailed } from './section.js'
import { plain } from './text.js'

interface Source {
  command: string
  code: number | undefined
  ids: string[]
}

/** Commands the probe knows; more are no answer. */
const mostSources = 10

/** `@command`, its lines, `!exit code`. A line that begins with a full id names a sandbox or container. */
const readSources = (body: string): Source[] => {
  const sources: Source[] = []
  for (const line of body.split('\n')) {
    const source = sources.at(-1)
    if (sources.length > mostSources) break
    if (line.startsWith('@')) sources.push({ command: line.slice(1), code: undefined, ids: [] })
    else if (/^!\d{1,5}$/.test(line) && source !== undefined) source.code = Number(line.slice(1))
    else {
      const id = /^([0-9a-f]{64})(?:\s|$)/.exec(line)?.[1]
      if (id !== undefined) source?.ids.push(id)
    }
  }
  return sources
}

/** -1, 0 or 1, by number, part by part. */
const compareVersions = (a: number[], b: number[]): number =>
  Math.sign(a.map((part, i) => part - (b[i] ?? 0)).find(difference => difference !== 0) ?? 0)

/**
 * The commands that must have answered before the record counts as complete; a reason where the version writes nothing
 * down before ADD. containerd: containers since 1.5.15, 1.6.9 and 1.7; sandboxes since 2.0 (where they are made, in
 * `RunPodSandbox`).
 */
const needed = ({ name, version }: Runtime): string[] | { none: string } => {
  if (name !== 'containerd') return []
  const parts = /^(\d+)\.(\d+)\.(\d+)/.exec(version)?.slice(1).map(Number)
  if (parts === undefined) return { none: `containerd ${version}: the version is not understood` }
  if (compareVersions(parts, [2, 0, 0]) >= 0)
    return ['ctr -n k8s.io containers ls', 'ctr -n k8s.io sandboxes ls']
  const since = parts[1] === 5 ? [1, 5, 15] : [1, 6, 9]
  if (compareVersions(parts, since) >= 0) return ['ctr -n k8s.io containers ls']
  return {
    none: `containerd ${version} writes nothing down before it asks for an address (since 1.5.15 and 1.6.9 it does)`,
  }
}

/** What the runtime wrote down before it asked for an address. Unknown unless every source this version needs answered. */
export const readRecords = (
  section: Section,
  runtime: Runtime | undefined,
  listed: number | undefined,
  at: number,
): Answer<RuntimeRecords> => {
  if (section.code !== 0) return unknown(whyFailed('the runtime’s own records', section), at)
  if (runtime === undefined)
    return unknown('the runtime’s own records: which runtime runs here is not known', at)
  const must = needed(runtime)
  if ('none' in must) return unknown(must.none, at)
  const sources = readSources(section.body)
  const failed = sources.find(
    ({ command, code }) => code !== 0 && (must.length === 0 || must.includes(command)),
  )
  const absent = must.find(command => !sources.some(source => source.command === command))
  if (failed !== undefined || absent !== undefined || sources.length === 0) {
    const command = failed?.command ?? absent ?? 'the runtime’s own records'
    const said = plain(section.said)
    return unknown(`${plain(command)}: ${said === '' ? `exit code ${failed?.code ?? 'missing'}` : said}`, at)
  }
  const answered = sources.filter(({ code }) => code === 0)
  const ids = [...new Set(answered.flatMap(source => source.ids))]
  const source = plain(answered.map(({ command }) => command).join(', '))
  if (ids.length === 0 && (listed ?? 0) > 0) {
    return unknown(
      `${source}: nothing, although the runtime lists ${listed} sandboxes; is it the same runtime?`,
      at,
    )
  }
  return known({ source, ids }, at)
}

/** The probe asks for a handful. */
const mostOwners = 1_000

/** `address TAB owner TAB exit code TAB first line` of `crictl inspectp`, for a few files. */
export const readOwners = (section: Section, at: number): Answer<OwnerAnswer[]> => {
  if (section.code !== 0) return unknown(whyFailed('crictl inspectp', section), at)
  const answers: OwnerAnswer[] = []
  for (const line of section.body.split('\n').slice(0, mostOwners)) {
    const [ip, owner, code, said = ''] = line.split('\t')
    if (ip === undefined || owner === undefined || code === undefined) continue
    const gone = /code = NotFound/.test(said)
    // Any other failure says nothing about this owner.
    if (code !== '0' && !gone) return unknown(`crictl inspectp ${owner.slice(0, 13)}…: ${plain(said)}`, at)
    const message = /msg="((?:[^"\\]|\\.)*)"/.exec(said)?.[1] ?? said
    answers.push({ ip, owner, known: code === '0', said: plain(message) })
  }
  return known(answers, at)
}
