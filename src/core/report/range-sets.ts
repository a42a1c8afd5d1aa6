import ipaddr from 'ipaddr.js'
import { z } from 'zod'
import type { AddressRange } from '../evidence/bundle.js'
import { once } from './once.js'
import type { Report } from './report.js'

const cidr =
  /(\d{1,3}(?:\.\d{1,3}){3}|[0-9a-f]{0,4}(?::[0-9a-f]{0,4}){2,7})\/(\d{1,3})(?:\s{0,4}\(([^()]{0,80})\))?/gi
const notNow = /\b(?:old|former|previous|earlier|stale|no longer|before)\b/i
const between = /(\S*[.:]\S*)\s{0,3}(?:-|–|to)\s{0,3}(\S*[.:]\w+)/

/** `.20` in 10.10.10.0/24 is 10.10.10.20; a whole address stays as it is. */
const completed = (base: string, text: string): string | undefined => {
  const full = text.startsWith('.') ? `${base.slice(0, base.lastIndexOf('.'))}${text}` : text
  return ipaddr.isValid(full) ? full : undefined
}

/** Host bits are taken off: FLANNEL_SUBNET and podCIDR spell the same range differently. */
const networkOf = (base: string, bits: string): string | undefined => {
  if (!ipaddr.isValid(base)) return undefined
  const address = ipaddr.parse(base)
  const size = address.kind() === 'ipv4' ? 32 : 128
  if (Number(bits) > size) return undefined
  const network =
    address.kind() === 'ipv4'
      ? ipaddr.IPv4.networkAddressFromCIDR(`${base}/${bits}`)
      : ipaddr.IPv6.networkAddressFromCIDR(`${base}/${bits}`)
  return `${network.toString()}/${bits}`
}

/**
 * The subnets that a text names, as people and settings write them: `10.0.1.0/24`, `10.10.10.0/24 (.20-.22)`. What is called old
 * is left out: it is no range of now.
 */
export const subnetsIn = (text: string): AddressRange[] =>
  [...text.slice(0, 4_096).matchAll(cidr)].flatMap(([, base = '', bits = '', note = '']) => {
    const subnet = networkOf(base, bits)
    if (subnet === undefined || notNow.test(note)) return []
    const [, from = '', to = ''] = between.exec(note) ?? []
    const start = completed(base, from)
    const end = completed(base, to)
    return [
      start === undefined || end === undefined ? { subnet } : { subnet, rangeStart: start, rangeEnd: end },
    ]
  })

const toNumber = (address: ipaddr.IPv4 | ipaddr.IPv6): bigint =>
  address.toByteArray().reduce((sum, byte) => sum * 256n + BigInt(byte), 0n)

/**
 * A range as host-local prints it, `10.244.7.1-10.244.7.254`: start and end, its gateway counted though never given out. The gateway is
 * inside where the range is a whole subnet; a part of a subnet is taken as it is.
 */
export const printedRange = (text: string): AddressRange | undefined => {
  const [start = '', end = ''] = text.split('-').map(part => part.trim())
  if (!ipaddr.isValid(start) || !ipaddr.isValid(end)) return undefined
  const [first, last] = [ipaddr.parse(start), ipaddr.parse(end)]
  if (first.kind() !== last.kind()) return undefined
  const v4 = first.kind() === 'ipv4'
  const whole = toNumber(last) - toNumber(first) + (v4 ? 3n : 2n)
  const isSubnet = whole > 2n && (whole & (whole - 1n)) === 0n && (toNumber(first) - 1n) % whole === 0n
  const none = v4 ? '0.0.0.0' : '::'
  return { subnet: `${none}/0`, rangeStart: start, rangeEnd: end, gateway: isSubnet ? start : none }
}

const range = z.object({
  subnet: z.string(),
  rangeStart: z.string().optional(),
  rangeEnd: z.string().optional(),
  gateway: z.string().optional(),
})
const ipam = z.looseObject({
  type: z.literal('host-local'),
  ranges: z.array(z.array(range)).optional(),
  ...range.partial().shape,
})
const withIpam = z.looseObject({
  ipam: ipam.optional().catch(undefined),
  delegate: z
    .looseObject({ ipam: ipam.optional().catch(undefined) })
    .optional()
    .catch(undefined),
})
const conflist = withIpam.extend({
  cniVersion: z.string().optional(),
  name: z.string().optional(),
  type: z.string().optional(),
  plugins: z.array(withIpam.extend({ type: z.string().optional() })).optional(),
})
export type PrintedConflist = z.infer<typeof conflist>

/** CNI configurations that commands printed, whole. */
export const conflistsIn = ({ commands }: Report): PrintedConflist[] =>
  commands.flatMap(({ output }) => {
    const text = output.join('\n').trim()
    if (!text.startsWith('{') || text.length > 64 * 1024) return []
    try {
      const read = conflist.safeParse(JSON.parse(text))
      const isCni = read.success && (read.data.plugins !== undefined || read.data.type !== undefined)
      return isCni ? [read.data] : []
    } catch {
      return []
    }
  })

const clean = ({ subnet, rangeStart, rangeEnd, gateway }: z.infer<typeof range>): AddressRange => ({
  subnet,
  ...(rangeStart === undefined ? {} : { rangeStart }),
  ...(rangeEnd === undefined ? {} : { rangeEnd }),
  ...(gateway === undefined ? {} : { gateway }),
})

const setsOf = (config: PrintedConflist): AddressRange[][] =>
  [config, ...(config.plugins ?? [])]
    .flatMap(each => [each.ipam, each.delegate?.ipam])
    .flatMap(each => [
      ...(each?.subnet === undefined ? [] : [[clean({ ...each, subnet: each.subnet })]]),
      ...(each?.ranges ?? []).map(set => set.map(clean)),
    ])

const isV6 = ({ subnet }: AddressRange): boolean => subnet.includes(':')

/**
 * The range sets of the node, from the surest source there is: a printed configuration, else the subnet of the store, else what the
 * plugin prints as full, else the node's Pod CIDR where it can only be one node's. Several subnets of one family are one pool unless a
 * message names a second set.
 */
export const rangeSetsOf = once((report: Report): AddressRange[][] => {
  const [configured] = conflistsIn(report)
    .map(setsOf)
    .filter(sets => sets.length > 0)
  if (configured !== undefined) return configured
  const printed = fullSets(report)
  const subnets = subnetsIn(report.store?.subnet ?? '')
  const named = subnets.length > 0 ? subnets : nodeCidr(report)
  if (named.length === 0) return printed.map(({ set }) => set)
  const apart = printed.some(({ index }) => index > 0) && !named.some(isV6)
  const families = [named.filter(each => !isV6(each)), named.filter(isV6)].filter(set => set.length > 0)
  return apart ? named.map(each => [each]) : families
})

const nodeCidr = ({ environment }: Report): AddressRange[] => {
  const named = subnetsIn(environment.get('pod_cidr') ?? environment.get('node_cidr') ?? '')
  const perFamily = [named.filter(each => !isV6(each)), named.filter(isV6)]
  // A cluster's range is cut up into nodes' ranges of /24 or so: nothing larger is taken for one node's.
  const small = named.every(each => isV6(each) || Number(each.subnet.split('/')[1]) >= 20)
  return small && perFamily.every(set => set.length <= 1) ? named : []
}

/** Range sets that the plugin itself calls used up, with their index. */
export const fullSets = ({ lines }: Report): { index: number; set: AddressRange[] }[] => {
  const found = new Map<string, { index: number; set: AddressRange[] }>()
  for (const { reading, from } of lines) {
    if (from === 'command' || reading?.kind !== 'exhausted') continue
    const set = reading.ranges.flatMap(each => printedRange(each) ?? [])
    if (set.length > 0) found.set(reading.ranges.join(), { index: reading.rangeIndex ?? 0, set })
  }
  return [...found.values()]
}
