import ipaddr from 'ipaddr.js'
import type { AddressRange } from '../evidence/bundle.js'

type Address = ipaddr.IPv4 | ipaddr.IPv6
interface Span {
  family: 'ipv4' | 'ipv6'
  start: bigint
  end: bigint
  gateway: bigint
}

// Four bytes fit a plain number: a store of 65,000 files makes the difference felt.
const toNumber = (address: Address): bigint =>
  address.kind() === 'ipv4'
    ? BigInt(address.toByteArray().reduce((sum, byte) => sum * 256 + byte, 0))
    : address.toByteArray().reduce((sum, byte) => sum * 256n + BigInt(byte), 0n)

/** Plain dotted IPv4 or IPv6 without zone; undefined for everything else, hex and short forms too. */
const parseIp = (text: string): Address | undefined => {
  if (ipaddr.IPv4.isValidFourPartDecimal(text)) return ipaddr.IPv4.parse(text)
  if (!text.includes(':') || text.includes('%') || !ipaddr.IPv6.isValid(text)) return undefined
  const address = ipaddr.IPv6.parse(text)
  return address.isIPv4MappedAddress() ? address.toIPv4Address() : address
}

const shown = (address: Address): string =>
  address.kind() === 'ipv4' ? address.toString() : (address as ipaddr.IPv6).toRFC5952String()

/**
 * The address if `name` is written the way host-local writes file names (Go's `net.IP.String()`): dotted without leading
 * zeros, IPv6 lower-case with its longest run of zeros left out. undefined for any other spelling: such a file is not
 * the plugin's.
 */
export const canonicalIp = (name: string): string | undefined => {
  const address = parseIp(name)
  return address !== undefined && shown(address) === name ? name : undefined
}

/** Any spelling → the canonical one, to compare addresses from different programs. */
export const normalIp = (text: string): string | undefined => {
  const address = parseIp(text)
  return address && shown(address)
}

/**
 * One range as host-local reads it (plugins, `allocator/range.go` Canonicalize): start and gateway default to the
 * network's first address, the end to the last but one for IPv4 and to the very last for IPv6. undefined for what the
 * plugin refuses: host bits set, fewer than two host bits (/31, /32), start or end outside the subnet or reversed.
 */
const spanOf = (range: AddressRange): Span | undefined => {
  const [base = '', bits = ''] = range.subnet.split('/')
  const network = parseIp(base)
  const size = network?.kind() === 'ipv4' ? 32 : 128
  const prefix = /^\d{1,3}$/.test(bits) ? Number(bits) : Number.NaN
  if (network === undefined || !(prefix <= size - 2)) return undefined
  const first = toNumber(network)
  const hosts = 1n << BigInt(size - prefix)
  if (first % hosts !== 0n) return undefined
  const family = network.kind()
  const last = first + hosts - 1n
  const given = (text: string | undefined, fallback: bigint): bigint | undefined => {
    if (text === undefined || text === '') return fallback
    const address = parseIp(text)
    return address?.kind() === family ? toNumber(address) : undefined
  }
  const start = given(range.rangeStart, first + 1n)
  const end = given(range.rangeEnd, family === 'ipv4' ? last - 1n : last)
  const gateway = given(range.gateway, first + 1n)
  if (start === undefined || end === undefined || gateway === undefined) return undefined
  if (start < first || end > last || start > end) return undefined
  return { family, start, end, gateway }
}

const sizeOf = ({ start, end, gateway }: Span): bigint =>
  end - start + 1n - (gateway >= start && gateway <= end ? 1n : 0n)

/**
 * Addresses one range set can give: the sum over its ranges, each without its gateway where that lies inside. A /24 with
 * the default gateway gives 253. undefined where the set is empty or holds a range that the plugin refuses. Above 2^53
 * (IPv6) the number is rounded.
 */
export const usableOfSet = (set: readonly AddressRange[]): number | undefined => {
  const spans = set.map(spanOf)
  if (spans.length === 0) return undefined
  let sum = 0n
  for (const span of spans) {
    if (span === undefined) return undefined
    sum += sizeOf(span)
  }
  return Number(sum)
}

/**
 * Pods that the range sets can serve: each Pod takes one address of every set, so the smallest set decides. undefined
 * where there is no set or one of them cannot be read.
 */
export const usableAddresses = (rangeSets: readonly AddressRange[][]): number | undefined => {
  const sizes = rangeSets.map(usableOfSet)
  let smallest: number | undefined
  for (const size of sizes) {
    if (size === undefined) return undefined
    smallest = smallest === undefined ? size : Math.min(smallest, size)
  }
  return smallest
}

/**
 * For many addresses: address → index of the range set that can hand it out; undefined where none can, or for the
 * gateway's own address.
 */
export const setFinder = (rangeSets: readonly AddressRange[][]): ((ip: string) => number | undefined) => {
  const sets = rangeSets.map(set => set.map(spanOf).filter(span => span !== undefined))
  return ip => {
    const address = parseIp(ip)
    if (address === undefined) return undefined
    const value = toNumber(address)
    const index = sets.findIndex(spans =>
      spans.some(
        ({ family, start, end, gateway }) =>
          family === address.kind() && value >= start && value <= end && value !== gateway,
      ),
    )
    return index < 0 ? undefined : index
  }
}

/** Whether the plugin can hand this address out. Files outside the ranges never use up capacity. */
export const inRanges = (ip: string, rangeSets: readonly AddressRange[][]): boolean =>
  setFinder(rangeSets)(ip) !== undefined
