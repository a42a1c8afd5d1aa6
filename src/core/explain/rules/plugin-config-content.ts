import { quoted } from '../../report/ask.js'
import { type CauseRule, clue } from '../rule.js'
import type { Report } from '../../report/report.js'
import { ofCode, ofKind, saying, told } from './plugin-clues.js'

/** What plugins say of a configuration that they read and cannot use. */
const unusable =
  /range set \d{1,3} overlaps with|overlapping (?:subnets|ranges)|(?:range_?(?:start|end)|gateway)[^\n]{0,80} not in (?:network|subnet)|invalid (?:range set|subnet|network config)|missing (?:["'`]?(?:bridge|master|type|subnet|name)["'`]?) (?:name|field|property|in)|mixed address families in|network (?:name|configuration) is (?:missing|invalid)|failed to (?:parse|unmarshal|load) (?:netconf|network configuration|conf)|error loading cni config|unsupported cni result version|cniversion[^\n]{0,40}(?:not supported|unsupported)|master (?:link|interface)[^\n]{0,40} not found|failed to lookup (?:master|link|device)/i

const refusedByPlugin: CauseRule = {
  name: 'plugin-refuses-config',
  source: 'host-local, bridge, macvlan and libcni: what they check before they do anything',
  read: report => {
    const [message] = saying(report, unusable).filter(
      ({ reading }) => reading.operation !== 'del' && reading.kind !== 'cache-corrupt',
    )
    if (message === undefined) return []
    const words = unusable.exec(message.text.slice(0, 8_192))?.[0] ?? ''
    return [
      {
        cause: 'cni-config-wrong',
        way: 'invalid',
        for: [clue(`the plugin refuses its configuration: ${quoted(words)}`, 'proves')],
      },
    ]
  },
}

const invalid: CauseRule = {
  name: 'config-invalid',
  source:
    'libcni and plugins refuse a configuration that they cannot parse, of a version they do not know, or without a part they need',
  read: report => {
    const found = ofKind(report, 'config-invalid').filter(
      ({ reading }) => reading.causes[0] === 'cni-config-wrong' && reading.operation !== 'del',
    )
    const [message] = found
    if (message === undefined) return []
    const sure = ofCode(report, 'CNI_CONF_INVALID').length > 0
    return [
      {
        cause: 'cni-config-wrong',
        way: message.reading.code === 'MULTUS_CONFIG' ? 'attachment' : 'invalid',
        for: [clue(told(message), sure ? 'proves' : 'supports')],
        missing: ['the configuration file that the runtime reads, whole'],
      },
    ]
  },
}

const prefixOf = (text: string | undefined): { net: number; bits: number } | undefined => {
  const match = /(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})\/(\d{1,2})\b/.exec(text?.slice(0, 400) ?? '')
  if (match === null) return undefined
  const [a = 0, b = 0, c = 0, d = 0, bits = 0] = match.slice(1).map(Number)
  return bits > 32 ? undefined : { net: ((a * 256 + b) * 256 + c) * 256 + d, bits }
}

const block = (net: number, bits: number): number => Math.floor(net / 2 ** (32 - bits))

const printedNodeRange = ({ commands }: Report): { net: number; bits: number } | undefined =>
  commands
    .flatMap(({ cmd, output }) =>
      output
        .slice(0, 200)
        .filter(line => /podCIDR|FLANNEL_SUBNET/i.test(`${cmd.slice(0, 400)} ${line.slice(0, 400)}`))
        .filter(line => !/FLANNEL_NETWORK|cluster-cidr/i.test(line.slice(0, 400))),
    )
    .map(prefixOf)
    .find(each => each !== undefined)

const wholeRange: CauseRule = {
  name: 'node-gives-out-whole-cluster-range',
  source: 'arithmetic: two nodes that each give addresses from the range of all give the same ones',
  read: report => {
    const store = prefixOf(report.store?.subnet)
    const own = printedNodeRange(report)
    if (store === undefined || own === undefined || store.bits >= own.bits) return []
    if (/whereabouts|calico|cilium/.test(report.store?.plugin ?? '')) return []
    if (block(store.net, store.bits) !== block(own.net, store.bits)) return []
    const says = `addresses are given from a /${store.bits}, and the node's own part of it is a /${own.bits}`
    return [{ cause: 'cni-config-wrong', way: 'foreign', for: [clue(says, 'supports')] }]
  },
}

const outsideOwnRange: CauseRule = {
  name: 'pod-address-outside-node-range',
  source:
    'with Pod CIDRs, a new Pod has an address of its own node; another address comes from another configuration',
  read: report => {
    const own = printedNodeRange(report)
    const node = report.node?.name
    if (own === undefined || own.bits < 16) return []
    const names = report.commands.map(({ cmd }) => cmd.slice(0, 400)).filter(cmd => /podCIDR/i.test(cmd))
    // Ranges of several nodes were printed: which one is whose is not told by the first.
    if (names.length > 1) return []
    const row = report.pods.find(({ ip, node: on }) => {
      const of = prefixOf(ip === undefined ? undefined : `${ip}/32`)
      const here = on !== undefined && (on === node || names.some(cmd => cmd.includes(on)))
      return (
        here &&
        of !== undefined &&
        block(of.net, own.bits) !== block(own.net, own.bits) &&
        block(of.net, 12) === block(own.net, 12)
      )
    })
    if (row === undefined) return []
    const says = `${quoted(row.name, 80)} has an address outside the range of its node`
    return [{ cause: 'cni-config-wrong', way: 'foreign', for: [clue(says, 'supports')] }]
  },
}

/** What stands in a configuration, told by who refuses it or by the addresses that come out of it. */
export const contentRules: CauseRule[] = [invalid, refusedByPlugin, wholeRange, outsideOwnRange]
