import type { CheckName } from './check-names.js'
import { type Bundle, isKnown, type Rollout } from './evidence/bundle.js'
import { readCniMessage } from './diagnosis/cni-message.js'
import { nodeDrained } from './drain/node-drained.js'
import { isAddSuccess, isDelFailure } from './evidence/parse/journal.js'
import { allocationsWith, measure } from './ipam/gap.js'

export interface CheckResult {
  /** undefined: the question got no answer, which is neither yes nor no. */
  holds: boolean | undefined
  /** One line for people, with the numbers. */
  says: string
  detail: string[]
}
export interface CheckEvidence {
  bundle: Bundle
  /** What happened before does not count: the start of the run, or of the look back. Our clock. */
  since: number
}

const cannotSay = (says: string, detail: string[] = []): CheckResult => ({ holds: undefined, says, detail })

/** Our clock and the node's may disagree by as much without harm. */
const sameTimeMs = 60_000

/** So many addresses are named one by one; the bundle has all. */
const shownAddresses = 20

/**
 * By id, bookkeeping left out (P-V1): every address file has a living sandbox, and every ready Pod-network sandbox has its
 * address. Equal is the test: fewer files than sandboxes means that a living Pod's address was given away. Owners that
 * are no sandbox ids belong to other tools and are left out on both sides; an empty file is nobody's and is not.
 */
const allocationsMatchSandboxes = ({ bundle }: CheckEvidence): CheckResult => {
  const gap = measure(bundle)
  if (!isKnown(gap))
    return cannotSay(`${bundle.node}: allocations cannot be compared with sandboxes: ${gap.reason}`)
  const { live, orphaned, young, unreadable, withoutAddress, standings } = gap.value
  const empty = allocationsWith(gap.value, 'foreign').filter(({ owner }) => owner === '').length
  const others = gap.value.foreign - empty
  const counted = live + orphaned + young + empty
  const numbers = `${bundle.node}: ${counted} addresses, ${live} with a living sandbox`
  const detail = standings
    .filter(entry => entry.standing === 'orphaned' || entry.standing === 'foreign')
    .slice(0, shownAddresses)
    .map(
      ({ allocation, standing }) =>
        `${allocation.ip} ${standing}, owner ${allocation.owner || '(empty file)'}`,
    )
  const wrong = [
    orphaned > 0 && `${orphaned} without a sandbox`,
    empty > 0 && `${empty} without any owner`,
    withoutAddress !== undefined &&
      withoutAddress > 0 &&
      `ready sandboxes without an address: ${withoutAddress}`,
  ].filter(line => line !== false)
  const unclear = [
    unreadable > 0 && `files that could not be read: ${unreadable}`,
    young > 0 && `${young} young, of Pods that may be just starting`,
    withoutAddress === undefined &&
      "the API's Pods are not known, so sandboxes without an address cannot be told",
  ].filter(line => line !== false)
  if (wrong.length > 0) return { holds: false, says: `${numbers}; ${wrong.join(', ')}`, detail }
  if (unclear.length > 0) return cannotSay(`${numbers}; ${unclear.join(', ')}`, detail)
  const leftOut = others > 0 ? `; ${others} of other tools left out` : ''
  return { holds: true, says: `${numbers}: ${counted} = ${live}${leftOut}`, detail }
}

/**
 * The journal since then has no DEL failure (P-V4). A journal that does not reach back proves nothing;
 * of one that was too long the newest lines are kept, and new failures are the newest.
 * ADDs that succeeded since then are counted beside it; none is no failure, the test Pod shows that one works.
 */
const noNewDelFailures = ({ bundle, since }: CheckEvidence): CheckResult => {
  const { journal } = bundle
  if (!isKnown(journal)) return cannotSay(`${bundle.node}: the journal was not read: ${journal.reason}`)
  const failures = journal.value.lines.filter(line => line.at >= since && isDelFailure(line.text))
  const detail = failures.slice(-shownAddresses).map(line => `${line.unit}: ${line.text}`)
  if (failures.length > 0)
    return {
      holds: false,
      says: `${bundle.node}: ${failures.length} DEL failures since the repair began`,
      detail,
    }
  if (journal.value.since > since + sameTimeMs)
    return cannotSay(`${bundle.node}: the journal was not asked for all the time since the repair began`)
  const { reachesBackTo } = journal.value
  if (reachesBackTo === undefined)
    return cannotSay(
      `${bundle.node}: the journal of ${journal.value.units.join(', ')} is empty: it proves nothing`,
    )
  if (reachesBackTo > since + sameTimeMs)
    return cannotSay(`${bundle.node}: the journal does not reach back to the start of the repair`)
  const adds = journal.value.lines.filter(line => line.at >= since && isAddSuccess(line.text)).length
  return {
    holds: true,
    says: `${bundle.node}: no DEL failures since the repair began; ${adds} ADDs succeeded`,
    detail: [],
  }
}

const shortLine = ({ name, ready, desired, missing }: Rollout): string => {
  const nodes = missing.map(({ node }) => node)
  return `${name} ${ready} of ${desired}${nodes.length > 0 ? `, missing on ${nodes.slice(0, 3).join(', ')}` : ''}`
}

/** Every DaemonSet that should run on this node has its Pod there, and says N of N (P-V5). */
const rolloutsComplete = ({ bundle }: CheckEvidence): CheckResult => {
  const { rollouts } = bundle
  if (!isKnown(rollouts)) return cannotSay(`the DaemonSets are not known: ${rollouts.reason}`)
  const waiting = rollouts.value.filter(rollout => rollout.observedGeneration < rollout.generation)
  const lines = rollouts.value.map(
    ({ namespace, name, ready, desired }) => `${namespace}/${name}: ${ready} of ${desired}`,
  )
  const here = rollouts.value.filter(({ missing }) => missing.some(({ node }) => node === bundle.node))
  const behind = rollouts.value.filter(({ ready, desired }) => ready < desired)
  const short = behind.length > 0 ? behind : here
  if (short.length > 0) {
    const says = short.map(shortLine).join(', ')
    return { holds: false, says: `not complete: ${says}`, detail: lines }
  }
  if (waiting.length > 0)
    return cannotSay(`${waiting.length} DaemonSets have changed and their counts are of before`, lines)
  return { holds: true, says: `DaemonSets complete: ${lines.join(', ') || 'none runs here'}`, detail: lines }
}

/** No FailedCreatePodSandBox on this node since then (P-V2). */
const noSandboxFailures = ({ bundle, since }: CheckEvidence): CheckResult => {
  const { events } = bundle
  if (!isKnown(events)) return cannotSay(`${bundle.node}: its events are not known: ${events.reason}`)
  const failing = events.value.filter(
    event => event.last >= since && (event.node ?? bundle.node) === bundle.node,
  )
  const detail = failing.map(
    event => `${event.namespace}/${event.pod} ×${event.count}: ${readCniMessage(event.message).says}`,
  )
  return failing.length === 0
    ? { holds: true, says: `${bundle.node}: no sandbox failed to be made`, detail: [] }
    : { holds: false, says: `${bundle.node}: sandboxes of ${failing.length} Pods failed to be made`, detail }
}

const checks: Record<CheckName, (evidence: CheckEvidence) => CheckResult> = {
  'allocations-match-sandboxes': allocationsMatchSandboxes,
  'no-new-del-failures': noNewDelFailures,
  'rollouts-complete': rolloutsComplete,
  'no-sandbox-failures': noSandboxFailures,
  'node-drained': ({ bundle }) => nodeDrained(bundle),
}

/** One named assertion on evidence. Evidence that is missing makes it neither hold nor fail, with the reason. */
export const evaluate = (check: CheckName, evidence: CheckEvidence): CheckResult => checks[check](evidence)
