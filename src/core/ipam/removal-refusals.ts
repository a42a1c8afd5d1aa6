import { shownDuration } from '../duration.js'
import { type Answer, type Bundle, isKnown, type PodFacts, type Sandbox } from '../evidence/bundle.js'
import { mustHaveSandbox, storeInUse } from './gap.js'
import { usableOfSet } from './range-set.js'
import { quarantineRoot, type RemovalInput } from './removal-input.js'

/** One rule for the whole node: why nothing may be removed, or undefined. */
type NodeRule = (input: RemovalInput) => string | undefined
type BundleRule = (input: Pick<RemovalInput, 'bundle'>) => string | undefined

const missing = (what: string, answer: Answer<unknown>): string | undefined =>
  isKnown(answer) ? undefined : `${what}: ${answer.reason}`

/** A silent runtime makes every address look leaked. */
const runtimeAnswers: NodeRule = ({ bundle }) =>
  missing('the runtime did not list its sandboxes', bundle.sandboxes) ??
  missing('the runtime did not say what it is', bundle.runtime)

/** The API's Pods and the node's facts are needed to check the runtime's list. */
const apiAnswers: NodeRule = ({ bundle }) =>
  missing("the API did not list the node's Pods", bundle.pods) ??
  missing('the API did not give the node', bundle.facts)

const runningPods = (bundle: Bundle): PodFacts[] =>
  isKnown(bundle.pods) ? bundle.pods.value.filter(pod => mustHaveSandbox(pod, bundle.collectedAt)) : []

/**
 * An empty list while Pods run there comes from the wrong endpoint, or from a runtime that has lost its state. Without Pods
 * nothing tells the two from an empty node, and the node's own script refuses it too.
 */
const listIsNotEmpty: BundleRule = ({ bundle }) => {
  if (!isKnown(bundle.sandboxes) || bundle.sandboxes.value.length > 0) return undefined
  const running = runningPods(bundle).length
  return running > 0
    ? `the runtime lists no sandbox although ${running} Pods run there`
    : 'the runtime lists no sandbox at all, and none proves that it is the one the kubelet uses: start a Pod on the node'
}

/**
 * The list must be that of the runtime the kubelet uses: every Pod-network Pod that runs there is in it, by uid. A wrong
 * endpoint can answer politely, even with some sandboxes of its own.
 */
const listHoldsRunningPods: NodeRule = ({ bundle }) => {
  if (!isKnown(bundle.sandboxes)) return undefined
  const listed = new Set(bundle.sandboxes.value.map(sandbox => sandbox.podUid))
  const lacking = runningPods(bundle).filter(pod => !pod.hostNetwork && !pod.mirror && !listed.has(pod.uid))
  const [first] = lacking
  if (first === undefined || bundle.sandboxes.value.length === 0) return undefined
  return `the runtime does not list ${lacking.length} Pods that run there (${first.namespace}/${first.name}): is it the kubelet's runtime?`
}

/**
 * Why a guessed endpoint is not known to be the kubelet's: no Pod that runs there, on the Pod network or not, has its
 * sandbox in the list. Ready ones count only: a runtime the node has changed from still knows Pods of before. A static
 * Pod has another uid in the API than on the node. undefined where the endpoint is proven or comes from the kubelet.
 */
const endpointDoubt = (
  { runtime, sandboxes }: Pick<Bundle, 'runtime' | 'sandboxes'>,
  running: readonly Pick<PodFacts, 'uid' | 'mirror'>[],
): string | undefined => {
  if (!isKnown(runtime) || !/default|guess/i.test(runtime.value.endpointFrom)) return undefined
  const ready = isKnown(sandboxes) ? sandboxes.value.filter(({ state }) => state === 'ready') : []
  const listed = new Set(ready.map(({ podUid }) => podUid))
  if (running.some(pod => !pod.mirror && listed.has(pod.uid))) return undefined
  const { endpoint, endpointFrom } = runtime.value
  return `the runtime endpoint ${endpoint} is not from the kubelet's configuration (${endpointFrom}), and it lists no sandbox of a Pod that runs there, which would prove it: set containerRuntimeEndpoint in /var/lib/kubelet/config.yaml, or start a Pod on the node`
}

/** A guessed endpoint is believed only where running Pods prove it. */
const endpointIsKubelets: BundleRule = ({ bundle }) => endpointDoubt(bundle, runningPods(bundle))

/** By id: a list that names one sandbox twice has not grown. */
const distinct = (sandboxes: readonly Sandbox[]): number => new Set(sandboxes.map(({ id }) => id)).size

/** More than a fifth of the sandboxes gone since the plan: the runtime is losing its state, or the node is drained now. */
const sandboxesNotLost: NodeRule = ({ earlier, bundle }) => {
  if (earlier === undefined || !isKnown(bundle.sandboxes)) return undefined
  if (!isKnown(earlier.sandboxes)) return `the earlier reading has no sandboxes: ${earlier.sandboxes.reason}`
  const before = distinct(earlier.sandboxes.value)
  const now = distinct(bundle.sandboxes.value)
  return now < before * 0.8
    ? `the runtime lists ${now} sandboxes, ${before} at the earlier reading`
    : undefined
}

/** Start times come from process times and jitter by a clock tick or two. */
const sameStartMs = 3_000

/** A restart since the plan may have lost the runtime's state. */
const runtimeNotRestarted: NodeRule = ({ earlier, bundle }) => {
  if (earlier === undefined || !isKnown(bundle.runtime)) return undefined
  if (!isKnown(earlier.runtime))
    return `the earlier reading does not know the runtime: ${earlier.runtime.reason}`
  const was = earlier.runtime.value.startedAt
  const is = bundle.runtime.value.startedAt
  if (was === undefined || is === undefined)
    return 'it is not known whether the runtime was restarted since the earlier reading'
  return Math.abs(is - was) > sameStartMs ? 'the runtime was restarted since the earlier reading' : undefined
}

/** The plan is for one boot of one node: the node, its API object and the earlier reading agree on which. */
const sameBoot: NodeRule = ({ earlier, bundle }) => {
  if (!isKnown(bundle.host)) return `the node's boot is not known: ${bundle.host.reason}`
  if (!isKnown(bundle.facts)) return undefined
  const { bootId } = bundle.host.value
  if (bootId === '') return "the node's boot is not known: its boot id is empty"
  if (bundle.facts.value.bootId !== bootId)
    return 'the node that answered is not the boot that the API knows: another machine, or a kubelet that has not reported since the boot'
  if (earlier === undefined) return undefined
  if (!isKnown(earlier.host)) return `the boot of the earlier reading is not known: ${earlier.host.reason}`
  if (earlier.host.value.bootId !== bootId) return 'the node was booted since the earlier reading'
  if (isKnown(earlier.facts) && earlier.facts.value.uid !== bundle.facts.value.uid)
    return 'the node was created anew since the earlier reading'
  return undefined
}

/** No new Pod may be started there meanwhile by the scheduler. */
const nodeIsCordoned: NodeRule = ({ cordoned }) => (cordoned ? undefined : 'the node is not cordoned')

/**
 * Allocations first, sandboxes second, the runtime's records last: in any other order a Pod that starts between two
 * readings looks leaked.
 */
const readInOrder: NodeRule = ({ bundle: { stores, sandboxes, records } }) => {
  if (!isKnown(stores) || !isKnown(sandboxes)) return undefined
  if (sandboxes.at < stores.at) return 'the sandboxes were listed before the addresses were read'
  return isKnown(records) && records.at < sandboxes.at
    ? "the runtime's records were read before its sandboxes were listed"
    : undefined
}

/** Only host-local keeps its state in these files, and only the configured ranges say which are its own. */
const configurationIsKnown: NodeRule = ({ bundle }) => {
  if (!isKnown(bundle.conflist))
    return `the network configuration could not be read: ${bundle.conflist.reason}`
  const { ipam, path } = bundle.conflist.value
  if (ipam.type !== 'host-local') return `${path}: addresses are given by ${ipam.type}, not by host-local`
  if (ipam.rangeSets.length === 0)
    return `${path}: no ranges are configured, so none of the addresses is known to be in them`
  const wrong = ipam.rangeSets.findIndex(set => usableOfSet(set) === undefined)
  return wrong < 0 ? undefined : `${path}: range set ${wrong} is not one that host-local accepts`
}

const storeIsKnown: NodeRule = ({ bundle }) => {
  if (!isKnown(bundle.stores)) return `the addresses could not be read: ${bundle.stores.reason}`
  if (!isKnown(bundle.conflist)) return undefined
  const { name, ipam } = bundle.conflist.value
  const store = storeInUse(bundle.stores.value, bundle.conflist.value)
  return store === undefined ? `network ${name} has no store under ${ipam.dataDir}` : undefined
}

/** The plugin's lock is never made by us: without it there is nothing that both take. */
const lockIsThere: NodeRule = ({ bundle }) => {
  if (!isKnown(bundle.stores) || !isKnown(bundle.conflist)) return undefined
  const store = storeInUse(bundle.stores.value, bundle.conflist.value)
  return store !== undefined && store.lockInode === undefined
    ? `${store.dir}/lock is missing: without the plugin's own lock nothing can be removed safely`
    : undefined
}

/** Rename moves files within one filesystem only, and what sudo lets the repairing user do on a node is below this folder. */
const storeIsBesideQuarantine: NodeRule = ({ bundle }) => {
  if (!isKnown(bundle.stores) || !isKnown(bundle.conflist)) return undefined
  const store = storeInUse(bundle.stores.value, bundle.conflist.value)
  const folder = quarantineRoot.slice(0, quarantineRoot.lastIndexOf('/') + 1)
  return store === undefined || store.dir.startsWith(folder)
    ? undefined
    : `the addresses lie in ${store.dir}, not below ${folder}, where the quarantine of removed files is: this program does not remove there`
}

/** Not knowing who holds an address is not knowing that nobody does. */
const heldIsKnown: NodeRule = ({ bundle }) =>
  missing('it is not known which addresses are still held on the node', bundle.held)

const trustedSkewMs = 5 * 60_000

/** Ages are the node's clock minus file times: a clock that is far off may have jumped since the files were made. */
const clockIsTrusted: NodeRule = ({ bundle: { host } }) => {
  if (!isKnown(host)) return undefined
  const { skewMs } = host.value
  if (Math.abs(skewMs) <= trustedSkewMs) return undefined
  const off = `${shownDuration(Math.abs(skewMs))} ${skewMs > 0 ? 'ahead' : 'behind'}`
  return `the node's clock is ${off}: ages of files cannot be trusted; set its clock first`
}

const nodeRules: NodeRule[] = [
  runtimeAnswers,
  apiAnswers,
  listIsNotEmpty,
  listHoldsRunningPods,
  endpointIsKubelets,
  sandboxesNotLost,
  runtimeNotRestarted,
  sameBoot,
  nodeIsCordoned,
  readInOrder,
  configurationIsKnown,
  storeIsKnown,
  lockIsThere,
  storeIsBesideQuarantine,
  heldIsKnown,
  clockIsTrusted,
]

/** Every reason why nothing may be removed from this node; empty where nothing speaks against looking at each file. */
export const refusals = (input: RemovalInput): string[] =>
  nodeRules.map(rule => rule(input)).filter(reason => reason !== undefined)
