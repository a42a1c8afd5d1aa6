import { type Bundle, isKnown } from '../evidence/bundle.js'
import type { FindingRule } from './address-rules.js'
import { type CniMessageKind, isOtherTrouble } from './cni-message.js'
import { eventLine, type Facts, many, type ReadEvent } from './facts.js'

const saying = (events: readonly ReadEvent[], ...kinds: CniMessageKind[]): ReadEvent[] =>
  events.filter(({ reading }) => kinds.includes(reading.kind))

const reached = ({ host, stores, sandboxes }: Bundle): boolean =>
  [host, stores, sandboxes].some(answer => isKnown<unknown>(answer))

/** The node was never reached, or its first answer did not come: nothing else about it is known. */
export const nodeUnreachable: FindingRule = ({ bundle }) => {
  if (reached(bundle)) return undefined
  return {
    name: 'node-unreachable',
    says: `${bundle.node} could not be asked, so what its store and its runtime say is not known.`,
    evidence: isKnown(bundle.host) ? [] : [bundle.host.reason],
  }
}

/** The kubelet or the plugin is not up. Ready, on the other hand, is no proof of anything (P-P3). */
export const nodeNotReady: FindingRule = ({ bundle }) => {
  if (!isKnown(bundle.facts)) return undefined
  const ready = bundle.facts.value.conditions.find(condition => condition.type === 'Ready')
  if (ready?.status === 'True') return undefined
  return {
    name: 'node-not-ready',
    says: `The node is not Ready: ${ready?.reason || 'it has no such condition'}.`,
    evidence: ready ? [ready.message] : [],
  }
}

/** The runtime did not list its sandboxes, listed none although Pods run, or refuses the kubelet right now. */
export const runtimeSilent: FindingRule = ({ bundle, gap, fresh }) => {
  if (!reached(bundle)) return undefined
  const told = saying(fresh, 'runtime-down')
  const reason = !isKnown(bundle.sandboxes)
    ? bundle.sandboxes.reason
    : bundle.sandboxes.value.length === 0 && !isKnown(gap)
      ? gap.reason
      : undefined
  if (reason === undefined && told.length === 0) return undefined
  return {
    name: 'runtime-silent',
    says: 'The container runtime does not answer as it should: nothing can be told leaked from living.',
    evidence: [...(reason === undefined ? [] : [reason]), ...told.map(eventLine)],
  }
}

/** No plugin answers: binary or configuration missing, or not executable (P-R1). The opposite of an exhausted range. */
export const pluginNotRunning: FindingRule = ({ fresh }) => {
  const told = saying(fresh, 'plugin-missing', 'plugin-cannot-run', 'config-missing')
  const [first] = told
  if (first === undefined) return undefined
  return {
    name: 'plugin-not-running',
    says: `The network plugin does not run: ${first.reading.says}`,
    evidence: told.map(eventLine),
  }
}

/** A configuration that cannot be read, or that the runtime refuses. */
export const configInvalid: FindingRule = ({ bundle, fresh }) => {
  const told = saying(fresh, 'config-invalid')
  const asked = bundle.shown !== undefined && !isKnown(bundle.conflist) && isKnown(bundle.host)
  if (told.length === 0 && !asked) return undefined
  const reason = isKnown(bundle.conflist) ? [] : [bundle.conflist.reason]
  return {
    name: 'config-invalid',
    says: 'The network configuration on the node cannot be used or could not be read.',
    evidence: [...(asked ? reason : []), ...told.map(eventLine)],
  }
}

/** The plugin needs an agent on the node that does not answer, or that is refused by the API. */
export const agentNotReady: FindingRule = ({ fresh }) => {
  const told = saying(fresh, 'agent-down', 'agent-refused')
  const [first] = told
  if (first === undefined) return undefined
  return { name: 'agent-not-ready', says: first.reading.says, evidence: told.map(eventLine) }
}

/** Sandboxes fail for a reason that is not the network: image, low-level runtime. */
export const notCni: FindingRule = ({ fresh }) => {
  const told = fresh.filter(({ reading }) => reading.notCni)
  const [first] = told
  if (first === undefined || told.length < fresh.length) return undefined
  return {
    name: 'not-cni',
    says: `${many(told.length, 'Pod')} cannot start, and the network is not why: ${first.reading.says}`,
    evidence: told.map(eventLine),
  }
}

/** Silence is not zero: what could not be counted is said, and nothing is concluded from it. */
export const notMeasured: FindingRule = ({ gap, bundle }) =>
  isKnown(gap)
    ? undefined
    : {
        name: 'not-measured',
        says: `Addresses and sandboxes of ${bundle.node} could not be compared.`,
        evidence: [gap.reason],
      }

export const pluginRules: FindingRule[] = [
  nodeUnreachable,
  runtimeSilent,
  pluginNotRunning,
  configInvalid,
  agentNotReady,
  nodeNotReady,
  notCni,
  notMeasured,
]

/** Fresh messages of a kind that none of the findings covers: they are told apart as "not this". */
export const otherTrouble = (facts: Facts): ReadEvent | undefined =>
  facts.fresh.find(({ reading }) => isOtherTrouble(reading))
