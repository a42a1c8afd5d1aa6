import { known, unknown, type Answer, type Restarts } from '../bundle.js'
import type { Section } from './frames.js'
import { kubeletUnits, readUnitStarts, runtimeUnits } from './sandboxes.js'
import { whyFailed } from './section.js'

const minute = 60_000

/** Times closer than `within` are one event seen twice: by the journal and by systemd, or by two ways of counting boots. */
const distinct = (times: number[], within: number): number[] => {
  const kept: number[] = []
  for (const time of times.toSorted((a, b) => a - b)) {
    const last = kept.at(-1)
    if (last === undefined || time - last >= within) kept.push(time)
  }
  return kept
}

/** First time of each line of `journalctl --list-boots`, behind `boot `; the session runs in UTC. */
const boots = (body: string): number[] =>
  [...body.matchAll(/^boot .*?(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)/gm)].map(([, day, time]) =>
    Date.parse(`${day}T${time}Z`),
  )

const unitOf = (unit: string): string => {
  if (!unit.startsWith('/')) return unit
  return unit.endsWith('/kubelet.log') ? 'kubelet' : 'containerd'
}

/** Starts of runtime and kubelet seen in the journal and by systemd, and boots; unknown where neither could be asked. */
export const readRestarts = (
  section: Section,
  seen: { unit: string; at: number }[] | undefined,
  bootedAt: number | undefined,
  at: number,
): Answer<Restarts> => {
  const current = readUnitStarts(section.body)
  if (seen === undefined && current.length === 0)
    return unknown(whyFailed('start times of the services', section), at)
  const all = [...(seen ?? []), ...current].map(start => ({ unit: unitOf(start.unit), at: start.at }))
  // systemd gives whole seconds and the start of the process; the journal's line follows when it is ready.
  const of = (units: RegExp) =>
    distinct(
      all.filter(({ unit }) => units.test(unit)).map(start => start.at),
      10_000,
    )
  return known(
    {
      runtime: of(runtimeUnits),
      kubelet: of(kubeletUnits),
      boots: distinct([...boots(section.body), ...(bootedAt === undefined ? [] : [bootedAt])], 5 * minute),
    },
    at,
  )
}
