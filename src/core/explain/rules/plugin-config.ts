import { quoted } from '../../report/ask.js'
import { configListings, configsOf, effectiveDirectory, type Listing } from '../../report/cni-directory.js'
import {
  agentPodsOf,
  isForeign,
  networksNamed,
  networksOf,
  networkOfPlugin,
} from '../../report/network-agents.js'
import type { Report } from '../../report/report.js'
import { spokenIn } from '../../report/spoken.js'
import { type CauseRule, type Clue, clue, type Suspicion } from '../rule.js'
import { ofKind, told } from './plugin-clues.js'
import { contentRules } from './plugin-config-content.js'

const lexical =
  'containerd, CRI-O and dockershim: the first valid file by name in their directory is the network of the Pods'
const notDeleted =
  'CNI configuration and spec: a network that is gone leaves its files unless somebody removes them'

/** Files that packages of runtimes and other programs bring; no cluster's own. */
const samples =
  /^(?:\d{1,3}-)?(?:containerd-net|crio|podman|cni-podman|nerdctl|bridge|mynet|loopback|docker|k8s-pod-network-sample)/
const isLoopback = (name: string): boolean => /loopback|-lo\./.test(name)

/** The listing of the directory that is really read, as far as that is known; else of the only one. */
const readListing = (report: Report): Listing | undefined => {
  const all = configListings(report)
  const path = effectiveDirectory(report)
  return path === undefined ? all[0] : all.find(listing => listing.path === path)
}

const noConfig: CauseRule = {
  name: 'runtime-has-no-config',
  source:
    'kubelet and CRI: NetworkReady=false with NetworkPluginNotReady, "cni config uninitialized", "no network config found"',
  read: report => {
    const [message, ...more] = ofKind(report, 'config-missing')
    if (message === undefined) return []
    const listing = readListing(report)
    const empty = listing !== undefined && configsOf(listing).length === 0
    const files = listing === undefined ? [] : configsOf(listing)
    const clues: Clue[] = [clue(told(message), empty ? 'proves' : 'supports')]
    if (empty) clues.push(clue(`${quoted(listing.path)} holds no network configuration`, 'supports'))
    if (more.some(({ from }) => from !== message.from))
      clues.push(clue('more than one place says so', 'hints'))
    const missing =
      listing === undefined ? ['a listing of the directory from which the runtime reads its network'] : []
    const against = files.length > 0 ? [clue(`${quoted(files[0] ?? '')} is there`, 'hints')] : []
    const agents =
      agentPodsOf(report).length === 0 ? ["the state of the network agent's Pod on this node"] : []
    return [{ cause: 'cni-config-missing', for: clues, against, missing: [...missing, ...agents] }]
  },
}

const emptyDirectory: CauseRule = {
  name: 'config-directory-empty',
  source: 'libcni reads files ending in .conf, .conflist and .json and nothing else',
  read: report => {
    const listing = readListing(report)
    if (listing === undefined || configsOf(listing).length > 0) return []
    const left = listing.names.filter(name => /conf|json/.test(name)).slice(0, 3)
    const also = left.length > 0 ? `, only ${left.map(name => quoted(name, 60)).join(', ')}` : ''
    const says = `${quoted(listing.path)} holds no network configuration${also}`
    const other = configListings(report).find(
      each => each.path !== listing.path && configsOf(each).length > 0,
    )
    const set: Suspicion = { cause: 'cni-config-missing', for: [clue(says, 'supports')] }
    if (other === undefined) return [set]
    const elsewhere = `a configuration lies in ${quoted(other.path)}, where the runtime does not read`
    const sure = effectiveDirectory(report) !== undefined && ofKind(report, 'config-missing').length > 0
    return [
      set,
      {
        cause: 'cni-config-wrong',
        way: 'directory',
        for: [clue(elsewhere, sure ? 'proves' : 'supports'), clue(says, 'supports')],
      },
    ]
  },
}

/** What shows that a foreign file is the one in use: its name in a message, or the folder of addresses it gave. */
const inUse = (report: Report, file: string): boolean => {
  const bare = file.replace(/^\d{1,3}-/, '').replace(/\.(?:conf|conflist|json)$/, '')
  if (bare.length < 4) return false
  const folder = report.store?.dataDir?.split('/').filter(Boolean).at(-1)
  const own = networksNamed(file)
  return (
    folder === bare ||
    spokenIn(report).some(({ reading: { network, plugin } }) => {
      const of = networkOfPlugin(plugin)
      return network === bare || (of !== undefined && own.includes(of))
    })
  )
}

const foreignFirst: CauseRule = {
  name: 'foreign-config-first',
  source: `${lexical}; containerd/cri#889, containernetworking/cni#878`,
  read: report => {
    const listing = readListing(report)
    const files = listing === undefined ? [] : configsOf(listing).filter(name => !isLoopback(name))
    const [first, ...rest] = files
    if (listing === undefined || first === undefined) return []
    const own = networksOf(report)
    const named = networksNamed(first)
    const foreign = named.length > 0 ? named.every(each => isForeign(report, each)) : samples.test(first)
    if (!foreign || own.size === 0) return []
    const right = rest.find(name => networksNamed(name).some(each => own.has(each)))
    const used = inUse(report, first)
    const says =
      right === undefined
        ? `${quoted(listing.path)} holds ${quoted(first, 80)}, which is not of the network that this cluster runs`
        : `${quoted(first, 80)} sorts before ${quoted(right, 80)}: the runtime uses it alone`
    const clues = [clue(says, used ? 'proves' : 'supports')]
    if (used) clues.push(clue(`addresses or messages name the network of ${quoted(first, 80)}`, 'supports'))
    const missing =
      effectiveDirectory(report) === undefined ? ['the directory from which the runtime really reads'] : []
    return [{ cause: 'cni-config-wrong', way: 'foreign', for: clues, missing }]
  },
}

const foreignSpeaks: CauseRule = {
  name: 'foreign-plugin-speaks',
  source: `${notDeleted}; a plugin that nobody runs here can only be called because a configuration names it`,
  read: report => {
    for (const spoken of spokenIn(report)) {
      const { plugin, delegates } = spoken.reading
      const foreign = [plugin, ...delegates].find(each => isForeign(report, networkOfPlugin(each)))
      if (foreign === undefined || spoken.reading.notCni) continue
      const says = `the plugin ${quoted(foreign, 60)} was called, and this cluster runs ${[...networksOf(report)].join(', ')}`
      return [
        {
          cause: 'cni-config-wrong',
          way: 'foreign',
          for: [clue(says, 'supports')],
          missing: ['the directory from which the runtime really reads, and every file in it'],
        },
        {
          cause: 'cni-agent-down',
          for: [],
          against: [clue(`no agent of ${quoted(foreign, 60)} belongs here`, 'supports')],
        },
        {
          cause: 'cni-auth',
          for: [],
          against: [clue(`${quoted(foreign, 60)} needs no credential here any more`, 'supports')],
        },
        {
          cause: 'cni-plugin-missing',
          for: [],
          against: [clue(`${quoted(foreign, 60)} is not of this cluster`, 'supports')],
        },
      ]
    }
    return []
  },
}

export const configRules: CauseRule[] = [
  noConfig,
  emptyDirectory,
  foreignFirst,
  foreignSpeaks,
  ...contentRules,
]
