import { z } from 'zod'
import { known, unknown, type Answer, type HeldAddress, type Leftovers } from '../bundle.js'
import type { Section } from './frames.js'
import { whyFailed } from './section.js'
import { plain, readJson, readList } from './text.js'

interface Part {
  kind: string
  where: string
  lines: string[]
}

/** `@kind where`, then lines. */
const readParts = (body: string): Part[] => {
  const parts: Part[] = []
  for (const line of body.split('\n')) {
    if (line.startsWith('@')) {
      const [kind = '', ...where] = line.slice(1).split(' ')
      parts.push({ kind, where: plain(where.join(' '), 300), lines: [] })
    } else if (line.trim() !== '') parts.at(-1)?.lines.push(line)
  }
  return parts
}

const device = z.object({ ifname: z.string().default(''), addr_info: z.array(z.unknown()).default([]) })
const address = z.object({ local: z.string().max(45).default('') })
const neighbour = z.object({
  dst: z.string().max(45),
  dev: z.string().default(''),
  state: z.unknown(),
})
const route = z.object({ dst: z.string(), dev: z.string().default('') })
const link = z.object({
  ifname: z.string(),
  master: z.string().optional(),
  link_netnsid: z.number().optional(),
})

const confirmed = new Set(['REACHABLE', 'PERMANENT'])

/** Loopback and link-local addresses: every namespace has its own. */
const ownEverywhere = /^(?:127\.|::1$|fe80:)/

/** What one part says; undefined where it is not what `ip -j` prints. */
const heldIn = ({ kind, where, lines }: Part): HeldAddress[] | undefined => {
  const json = lines.length === 0 ? [] : readJson(lines.join('\n'))
  if (kind === 'neighbour') {
    return readList(neighbour, json)
      ?.filter(({ state }) => Array.isArray(state) && state.some(each => confirmed.has(each)))
      .map(({ dst, dev }) => ({ ip: dst, by: 'neighbour', where: plain(dev, 32) }))
  }
  if (kind === 'route') {
    // A route to the one address; the route to the whole range holds nothing.
    return readList(route, json)
      ?.map(({ dst, dev }) => ({ ip: dst.replace(/\/(?:32|128)$/, ''), dev }))
      .filter(({ ip }) => /^[0-9a-f.:]+$/.test(ip))
      .map(({ ip, dev }) => ({ ip, by: 'route', where: plain(dev, 32) }))
  }
  const by = kind === 'host' ? 'host' : 'namespace'
  const devices = readList(device, json)
  if (devices === undefined) return undefined
  const found: HeldAddress[] = []
  for (const { ifname, addr_info: info } of devices) {
    const list = readList(address, info)
    if (list === undefined) return undefined
    for (const { local } of list) {
      if (local !== '' && !ownEverywhere.test(local))
        found.push({ ip: local, by, where: by === 'host' ? plain(ifname, 32) : where })
    }
  }
  return found
}

/** Namespaces and tables a node can have; more are no answer. */
const mostParts = 20_000

/** Addresses in network namespaces, of confirmed neighbours, of routes to one address, and of the host itself. */
export const readHeld = (section: Section, at: number): Answer<HeldAddress[]> => {
  if (section.code !== 0) return unknown(whyFailed('ip -j addr, neigh and route', section), at)
  const held: HeldAddress[] = []
  const parts = readParts(section.body)
  if (!parts.some(({ kind }) => kind === 'host')) return unknown('ip -j addr: the node answered nothing', at)
  if (parts.length > mostParts)
    return unknown(`ip -j: ${parts.length} namespaces are more than a node has; look at the node`, at)
  for (const part of parts) {
    const found = heldIn(part)
    if (found === undefined) {
      return unknown(
        `ip -j: the answer about ${part.kind} ${part.where} is not understood; run it on the node`,
        at,
      )
    }
    for (const each of found) held.push(each)
  }
  return known(held, at)
}

const sum = (numbers: (number | undefined)[]): number | undefined =>
  numbers.reduce<number | undefined>(
    (total, each) => (total === undefined || each === undefined ? undefined : total + each),
    0,
  )
const count = (text: string | undefined): number | undefined =>
  /^\d{1,9}$/.test(text ?? '') ? Number(text) : undefined

export const readLeftovers = (section: Section, at: number): Answer<Leftovers> => {
  if (section.code !== 0) return unknown(whyFailed('the leftovers of Pod networks', section), at)
  const parts = readParts(section.body)
  const links = readList(link, readJson(parts.find(({ kind }) => kind === 'links')?.lines.join('\n') ?? ''))
  if (links === undefined) return unknown('ip -j link: the answer is not understood; run it on the node', at)
  const veths = links.filter(({ ifname }) => /^(?:veth|cali)/.test(ifname))
  const orphaned = veths.filter(
    ({ ifname, master, link_netnsid: peer }) =>
      peer === undefined || (ifname.startsWith('veth') && master === undefined),
  )
  const results = parts.filter(({ kind }) => kind === 'results').map(({ lines }) => lines.at(-1)?.split(' '))
  const empty = sum(results.map(numbers => count(numbers?.[1])))
  return known(
    {
      veths: veths.length,
      orphanedVeths: orphaned.length,
      natChains: count(parts.find(({ kind }) => kind === 'nat')?.lines.at(-1)),
      cachedResults: sum(results.map(numbers => count(numbers?.[0]))),
      ...(empty === undefined ? {} : { emptyResults: empty }),
    },
    at,
  )
}
