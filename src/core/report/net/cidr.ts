import ipaddr from 'ipaddr.js'

/** A network as routes, rules and settings write it; a single address is one of full length. */
export interface Cidr {
  address: ipaddr.IPv4 | ipaddr.IPv6
  bits: number
  text: string
}

/** `10.1.2.0/24`, `10.1.2.3`, `default`; nothing for other words. Host bits are kept in `address`. */
export const cidrOf = (word: string): Cidr | undefined => {
  if (word === 'default') return cidrOf('0.0.0.0/0')
  const [base = '', length] = word.split('/')
  if (!/^[0-9a-f.:]{2,45}$/i.test(base) || !ipaddr.isValid(base) || (!base.includes(':') && !dotted(base)))
    return undefined
  const address = ipaddr.parse(base)
  const size = address.kind() === 'ipv4' ? 32 : 128
  const bits = length === undefined ? size : Number(length)
  return /^\d{1,3}$/.test(length ?? '0') && bits <= size ? { address, bits, text: word } : undefined
}

const dotted = (base: string): boolean => /^\d{1,3}(?:\.\d{1,3}){3}$/.test(base)

/** Whether the first network holds the whole of the second. */
export const holds = (outer: Cidr, inner: Cidr): boolean =>
  outer.address.kind() === inner.address.kind() &&
  outer.bits <= inner.bits &&
  inner.address.match(outer.address, outer.bits)

export const sameNetwork = (a: Cidr, b: Cidr): boolean => a.bits === b.bits && holds(a, b)

export const holdsIp = (outer: Cidr, ip: string): boolean => {
  const inner = cidrOf(ip)
  return inner !== undefined && holds(outer, inner)
}

const networks = /(?<![\d.])\d{1,3}(?:\.\d{1,3}){3}\/\d{1,2}(?![\d.])/g
const addresses = /(?<![\d.])\d{1,3}(?:\.\d{1,3}){3}(?![\d.])/g

export const cidrsIn = (text: string): Cidr[] =>
  [...text.slice(0, 8_192).matchAll(networks)].flatMap(([found]) => cidrOf(found) ?? [])

export const ipsIn = (text: string): string[] =>
  [...text.slice(0, 8_192).matchAll(addresses)].map(([found]) => found).filter(ip => cidrOf(ip) !== undefined)
