import { isKnown } from '../evidence/bundle.js'
import { elsewhere, unknownTrouble } from './decide-elsewhere.js'
import { type Decision, type DecisionRule, plain } from './decision.js'
import { type Facts, many } from './facts.js'
import type { Finding } from './finding.js'
import { leakVerdict } from './leak-verdict.js'
import { has } from './rules.js'

const find = (findings: readonly Finding[], name: Finding['name']): Finding | undefined =>
  findings.find(finding => finding.name === name)

const unreachable: DecisionRule = ({ bundle, fresh }, findings) => {
  const finding = find(findings, 'node-unreachable')
  if (finding === undefined) return undefined
  const full = fresh.some(({ reading }) => reading.kind === 'exhausted')
  return plain({
    cause: 'node-unreachable',
    headline: `${bundle.node} could not be asked`,
    sure: 'low',
    says: [
      ...finding.evidence,
      full
        ? 'The events say that its range is used up; whether by a leak is not known until the node answers.'
        : 'What the API says is below; its store and its runtime are not known.',
    ],
    next: [`Make ${bundle.node} reachable, then ask again: /cni diagnose ${bundle.node}`],
    escalateTo: 'platform',
  })
}

const silentRuntime: DecisionRule = ({ bundle }, findings) => {
  const finding = find(findings, 'runtime-silent')
  if (finding === undefined) return undefined
  return plain({
    cause: 'runtime-error',
    headline: `The container runtime on ${bundle.node} does not answer`,
    sure: 'medium',
    says: [finding.says, ...finding.evidence.slice(0, 2)],
    doNot: ['Do not remove any address: without the list of sandboxes every one of them looks leaked.'],
    next: [`Look at the runtime on ${bundle.node}: its unit, its socket, its disk; then ask again.`],
    escalateTo: 'platform',
  })
}

const leak: DecisionRule = (facts, findings) =>
  has(findings, 'allocations-leaked') && isKnown(facts.gap)
    ? leakVerdict(facts, facts.gap.value, findings)
    : undefined

const recentDelMs = 60 * 60_000

/** Full, every owner is known to the runtime, and teardown fails now: the addresses are held by sandboxes that cannot end. */
const teardownFails: DecisionRule = ({ gap, band, bundle }, findings) => {
  if (!has(findings, 'range-exhausted') || !isKnown(gap) || band?.last === undefined) return undefined
  if (bundle.collectedAt - band.last > recentDelMs || gap.value.sandboxes.notReady === 0) return undefined
  return plain({
    cause: 'cni-del-failing',
    headline: `Teardown fails on ${bundle.node} and holds its addresses`,
    sure: 'medium',
    says: [
      `${many(gap.value.sandboxes.notReady, 'sandbox is', 'sandboxes are')} NotReady and still an owner; DELs fail now.`,
      'The runtime still knows these owners, so nothing is leaked: the DEL has to be made to work.',
    ],
    doNot: ['Do not remove these addresses: their sandboxes are still listed.'],
    next: [
      'Read the newest DEL failure in the evidence and repair what it names; the runtime tries again by itself.',
    ],
    escalateTo: 'platform',
  })
}

const fullWithLiving: DecisionRule = ({ gap, bundle }, findings) => {
  const finding = find(findings, 'range-exhausted')
  if (finding === undefined) return undefined
  const measured = isKnown(gap) ? gap.value : undefined
  const uncertain = measured === undefined || measured.unreadable + measured.young + measured.foreign > 0
  return plain({
    cause: measured === undefined ? 'ipam-full' : 'ipam-full-no-leak',
    headline:
      measured === undefined
        ? `${bundle.node} has no address left`
        : `All ${measured.usable} addresses of ${bundle.node} are in use`,
    sure: uncertain ? 'medium' : 'high',
    says: [
      finding.says,
      ...(measured === undefined || !isKnown(gap)
        ? [isKnown(gap) ? '' : `Whether they are leaked is not known: ${gap.reason}`]
        : [`${measured.live} belong to living sandboxes${notLiving(measured)}: nothing to give back.`]),
    ],
    outlook:
      measured === undefined ? undefined : 'It stays until Pods leave the node, or the range becomes larger.',
    doNot: ['Do not remove addresses: living Pods own them.'],
    next: [
      `Cordon ${bundle.node}, so that no more Pods come; move some if they can run elsewhere.`,
      'Give nodes a larger range, or lower maxPods below it.',
    ],
    escalateTo: 'capacity planning',
  })
}

const notLiving = ({
  young,
  foreign,
  unreadable,
}: {
  young: number
  foreign: number
  unreadable: number
}): string => {
  const parts = [
    young > 0 && `${young} are young`,
    foreign > 0 && `${foreign} belong to other tools`,
    unreadable > 0 && `${unreadable} could not be read`,
  ].filter(part => part !== false)
  return parts.length > 0 ? ` (${parts.join(', ')})` : ''
}

const invalidConfig: DecisionRule = ({ bundle }, findings) => {
  const finding = find(findings, 'config-invalid')
  if (finding === undefined) return undefined
  return plain({
    cause: 'cni-config-wrong',
    headline: `The network configuration of ${bundle.node} cannot be read`,
    sure: 'medium',
    says: [finding.says, ...finding.evidence],
    next: [`Look at /etc/cni/net.d on ${bundle.node}.`],
    escalateTo: 'platform',
  })
}

const unmeasured: DecisionRule = ({ gap, bundle }) =>
  isKnown(gap)
    ? undefined
    : plain({
        cause: 'unknown',
        headline: `${bundle.node} could not be measured`,
        sure: 'low',
        says: [gap.reason],
        next: [`Repair what the reason names, then ask again: /cni diagnose ${bundle.node}`],
        escalateTo: 'platform',
      })

const nothing: DecisionRule = ({ bundle, gap }) => {
  const counts = isKnown(gap)
    ? `${gap.value.taken} of ${gap.value.usable ?? 'an unknown number of'} addresses taken, none without a sandbox.`
    : ''
  const unread = isKnown(gap) && gap.value.usable === undefined
  return plain({
    cause: 'nothing-found',
    headline: `${bundle.node} can give new Pods an address`,
    sure: unread || (isKnown(gap) && gap.value.unreadable > 0) ? 'medium' : 'high',
    says: [counts],
  })
}

const rules: DecisionRule[] = [
  unreachable,
  silentRuntime,
  elsewhere,
  leak,
  teardownFails,
  fullWithLiving,
  unknownTrouble,
  invalidConfig,
  unmeasured,
]

/** The most likely cause: rules from the most disabling to the least, the first that fits. */
export const decide = (facts: Facts, findings: readonly Finding[]): Decision => {
  for (const rule of rules) {
    const decision = rule(facts, findings)
    if (decision !== undefined) return decision
  }
  return (
    nothing(facts, findings) ??
    plain({ cause: 'unknown', headline: facts.bundle.node, sure: 'low', says: [] })
  )
}
