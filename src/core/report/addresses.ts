import { inRanges, usableOfSet } from '../ipam/range-set.js'
import { told } from './ask.js'
import { once } from './once.js'
import { countedIn, printedCidr } from './counted.js'
import { fullSets, rangeSetsOf, subnetsIn } from './range-sets.js'
import type { Report } from './report.js'

/** Who hands out the addresses: host-local keeps them in files on the node, the others elsewhere. */
export type AddressManager = 'host-local' | 'aws' | 'azure' | 'calico' | 'cilium' | 'whereabouts' | 'other'

/**
 * How the addresses of a report add up. Counts alone never tell which address is whose: `unowned` is what cannot have an owner however
 * the living are spread, so that a number above zero is sure and zero says little.
 */
export interface Addresses {
  manager: AddressManager
  /** What one range set can give: of the set that is full, else of the smallest. */
  usable: number | undefined
  /** Taken in that set. */
  taken: number | undefined
  full: boolean | undefined
  /** The plugin itself says that it has none left. */
  said: boolean
  /** How many sandboxes may own an address there; NotReady ones may or may not. */
  owners:
    | { least: number | undefined; most: number | undefined; from: 'sandboxes' | 'pods' | 'counted' }
    | undefined
  /** At least how many addresses nobody owns. */
  unowned: number | undefined
  /** How it was found: owner by owner, or by counts. */
  by: 'ids' | 'comparison' | 'counts' | undefined
  emptyFiles: number
  maxPods: number | undefined
  /** The store's range is not the one that the node has now: its files take up nothing. */
  outside: boolean
  /** How many range sets there are; each Pod takes one address of every set. */
  sets: number
}

/** Wordings of other address managers that have none left, by what their projects print. */
const managers: [AddressManager, RegExp][] = [
  [
    'aws',
    /failed to assign an IP address to container|no available IP addresses|aws-cni|amazon-vpc|vpc-cni|\bipamd\b|aws-node/i,
  ],
  ['azure', /azure-vnet|azure ?cni|No available address(?:es| pools)|Azure CNS/i],
  [
    'calico',
    /calico-ipam|No more free affine blocks|IPAM allocated only 0|requested IPv4 addresses|ipamblock|pools are likely exhausted|per host block limit|calicoctl ipam/i,
  ],
  [
    'cilium',
    /postIpamFailure|cilium agent.*range is full|allocate IP via local cilium|CiliumNode|cilium-dbg? status/i,
  ],
  ['whereabouts', /whereabouts|Could not allocate IP in range|ip-reconciler/i],
]

const managerOf = (report: Report): AddressManager => {
  const { store, lines, commands } = report
  const plugin = (store?.plugin ?? '').slice(0, 200).toLowerCase()
  const local = /host-local|kubenet/
  if (local.test(plugin)) return 'host-local'
  if (lines.some(({ reading }) => reading?.kind === 'exhausted')) return 'host-local'
  const texts = [plugin, ...commands.map(({ cmd }) => cmd), ...lines.map(({ text }) => text)].map(text =>
    text.slice(0, 2_000),
  )
  const named = managers.find(([, pattern]) => texts.some(text => pattern.test(text)))
  if (named) return named[0]
  const stack = told(report, 'cni', 'ipam', 'network').slice(0, 2_000)
  if (local.test(stack) || store?.dataDir?.includes('/cni') === true) return 'host-local'
  const byName = managers.find(
    ([name, pattern]) => pattern.test(stack) || (name !== 'calico' && stack.includes(name)),
  )
  return (
    byName?.[0] ?? (/flannel|bridge|canal|k3s|antrea|kube-router|ptp/.test(stack) ? 'host-local' : 'other')
  )
}

/** No address is left, in any manager's words. */
export const noneLeft =
  /no IP addresses? available in|failed to assign an IP address to container|no available IP addresses|Assigned 0 out of \d|No more free affine blocks|IPAM allocated only 0|limit of \d{1,4} blocks|per host block limit|pools are likely exhausted|postIpamFailure|range is full|No more IPs available|Could not allocate IP in range|No available address(?:es| pools)|not enough IPs available|InsufficientFreeAddresses|insufficient free address|all available IPs? (?:are )?used|IP used out|NoAvailableAddress|no free (?:ip )?addresses/i

const saidFull = ({ lines }: Report): boolean =>
  lines.some(
    ({ text, reading, from }) =>
      from !== 'command' && (reading?.kind === 'exhausted' || noneLeft.test(text.slice(0, 8_192))),
  )

/** How many Pods wait for their sandbox: each may hold an address already, while it is in no list. */
const starting = ({ pods }: Report): number =>
  pods.filter(({ status }) => /^(?:ContainerCreating|Init:0|PodInitializing)/.test(status)).length

const ownersOf = (report: Report, full: boolean): Addresses['owners'] => {
  const { sandboxes, node } = report
  const counted = countedIn(report)
  const inFlight = full ? 0 : starting(report)
  if (sandboxes?.attached !== undefined)
    return { least: sandboxes.attached, most: sandboxes.attached + inFlight, from: 'sandboxes' }
  if (sandboxes?.ready !== undefined) {
    const { ready, notReady = 0, hostNetwork } = sandboxes
    const least = hostNetwork === undefined ? undefined : Math.max(0, ready - hostNetwork)
    return { least, most: Math.max(0, ready - (hostNetwork ?? 0)) + notReady + inFlight, from: 'sandboxes' }
  }
  if (counted.sandboxes !== undefined)
    return { least: undefined, most: counted.sandboxes + inFlight, from: 'counted' }
  const running = node?.runningPods ?? counted.pods
  return running === undefined ? undefined : { least: undefined, most: running + inFlight, from: 'pods' }
}

/** Which range the node has now, where the store's own is another one. */
const movedAway = (report: Report): boolean => {
  const { store } = report
  const named = store?.subnet ?? ''
  if (named !== '' && subnetsIn(named).length === 0 && /\d\/\d/.test(named)) return true
  const now = printedCidr(report) ?? report.environment.get('pod_cidr') ?? ''
  const [range] = subnetsIn(now)
  const files = (store?.sample ?? []).flatMap(each => /^[0-9a-f.:]{3,45}/i.exec(each)?.[0] ?? [])
  if (range === undefined || files.length < 2 || saidFull(report)) return false
  const sets = rangeSetsOf(report)
  return files.every(ip => !inRanges(ip, [[range]]) && !inRanges(ip, sets))
}

/** From the ids of a bundle, which win over every count. */
const byIds = (report: Report): Partial<Addresses> => {
  const byId = report.store?.byId
  if (byId === undefined) return {}
  const { live, young, orphaned, emptyFiles, unreadable, usable } = byId
  const taken = live + young + orphaned + emptyFiles + unreadable
  return {
    ...(usable === undefined ? {} : { usable, full: taken >= usable }),
    taken,
    owners: { least: live, most: live + young + unreadable, from: 'sandboxes' },
    unowned: orphaned + emptyFiles,
    by: 'ids',
    emptyFiles,
  }
}

const emptySamples = (report: Report): number =>
  (report.store?.sample ?? []).filter(each => /\b0 bytes|\bempty\b|0 B\b/i.test(each)).length

interface Filled {
  usable: number | undefined
  taken: number | undefined
  full: boolean | undefined
  sets: number
}

/** The set that is full decides; otherwise the smallest, with the store's count spread over the sets. */
const filledOf = (report: Report, manager: AddressManager, said: boolean): Filled => {
  const { pool, files } = countedIn(report)
  const sets = manager === 'host-local' || manager === 'whereabouts' ? rangeSetsOf(report) : []
  const number = Math.max(1, sets.length)
  const sizes = sets.flatMap(set => usableOfSet(set) ?? [])
  const smallest = sizes.length === sets.length && sizes.length > 0 ? Math.min(...sizes) : undefined
  const count = report.store?.count ?? files
  const printed = fullSets(report).at(-1)
  if (printed !== undefined && manager === 'host-local') {
    const own = sets.length > 1 ? sets[printed.index] : undefined
    const usable = (sets.length === 1 ? sizes[0] : own && usableOfSet(own)) ?? usableOfSet(printed.set)
    // A message may be old: with one set the files that lie there now count.
    const now = sets.length === 1 && roomLeft(count, usable) ? count : usable
    return { usable, taken: now, full: now === usable, sets: number }
  }
  const usable = pool?.total ?? smallest
  const all = count === undefined ? undefined : Math.ceil(count / number)
  const taken =
    pool?.taken ?? (all === undefined ? (said ? usable : undefined) : Math.min(all, usable ?? all))
  const counted = usable !== undefined && taken !== undefined ? taken >= usable : undefined
  return { usable, taken, full: said ? !roomLeft(taken, usable) : counted, sets: number }
}

/** More than a tenth of the addresses is free by the count. */
const roomLeft = (taken: number | undefined, usable: number | undefined): boolean =>
  taken !== undefined && usable !== undefined && taken < usable * 0.9

/** Adds up what a report tells of addresses and of who may own them. */
export const addressesOf = once((report: Report): Addresses => {
  const manager = managerOf(report)
  const said = saidFull(report)
  const counted = countedIn(report)
  const filled = filledOf(report, manager, said)
  const owners = ownersOf(report, filled.full === true)
  const outside = movedAway(report)
  // These count the whole cluster, the sandboxes are one node's.
  const apart =
    (manager === 'whereabouts' || manager === 'calico') && report.sandboxes?.attached === undefined
  const bound =
    filled.taken === undefined || owners?.most === undefined || outside || apart
      ? undefined
      : Math.max(0, filled.taken - owners.most)
  return {
    manager,
    ...filled,
    said,
    owners,
    unowned: counted.unowned ?? bound,
    by: counted.unowned !== undefined ? 'comparison' : bound === undefined ? undefined : 'counts',
    emptyFiles: counted.emptyFiles ?? emptySamples(report),
    maxPods: report.node?.maxPods ?? counted.maxPods,
    outside,
    ...byIds(report),
  }
})

/** More than Pods that are just starting or stopping can explain: ten at least, and a tenth of what is taken. */
export const isMany = (unowned: number | undefined, taken: number | undefined): boolean =>
  unowned !== undefined && unowned >= Math.max(10, (taken ?? 0) / 10)
