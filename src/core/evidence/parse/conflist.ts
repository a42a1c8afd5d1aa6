import ipaddr from 'ipaddr.js'
import { z } from 'zod'
import { known, unknown, type AddressRange, type Answer, type Conflist } from '../bundle.js'
import type { Section } from './frames.js'
import { whyFailed } from './section.js'
import { plain, readJson } from './text.js'

const text = z.string().min(1)
const range = z.object({
  subnet: text,
  rangeStart: text.optional(),
  rangeEnd: text.optional(),
  gateway: text.optional(),
})
const ipam = z.looseObject({
  type: text,
  dataDir: text.optional(),
  ranges: z.array(z.array(range)).nullish(),
  subnet: text.optional(),
  rangeStart: text.optional(),
  rangeEnd: text.optional(),
  gateway: text.optional(),
})
const plugin = z.looseObject({
  type: text,
  ipam: z.looseObject({ type: text.optional() }).nullish(),
  delegate: z.looseObject({ ipam: z.looseObject({}).nullish() }).nullish(),
})
const list = z.looseObject({ cniVersion: text.optional(), name: text, plugins: z.array(plugin).min(1) })
const single = plugin.extend({ cniVersion: text.optional(), name: text })

type Plugin = z.infer<typeof plugin>
interface File {
  path: string
  text: string
}

/** `@path`, then the file's lines behind a bar. */
const readFiles = (body: string): File[] => {
  const files: { path: string; lines: string[] }[] = []
  for (const line of body.split('\n')) {
    if (line.startsWith('@')) files.push({ path: line.slice(1), lines: [] })
    else if (line.startsWith('|')) files.at(-1)?.lines.push(line.slice(1))
  }
  return files.map(({ path, lines }) => ({ path, text: lines.join('\n') }))
}

/** Line and column of the first place where the text stops being JSON. */
const whereBroken = (source: string): string => {
  if (source.trim() === '') return 'the file is empty'
  if (source.length > mostLetters) return `${source.length} letters are too many for a configuration`
  let message = ''
  try {
    JSON.parse(source)
  } catch (error) {
    message = error instanceof Error ? error.message : ''
  }
  const position = Number(/position (\d+)/.exec(message)?.[1] ?? source.length)
  const before = source.slice(0, position).split('\n')
  return `line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1} is no JSON`
}

const firstIssue = (error: z.ZodError): string => {
  const issue = error.issues[0]
  return issue === undefined ? 'not understood' : `${issue.path.join('.') || 'the file'}: ${issue.message}`
}

const clean = (found: z.infer<typeof range>): AddressRange => ({
  subnet: found.subnet,
  ...(found.rangeStart === undefined ? {} : { rangeStart: found.rangeStart }),
  ...(found.rangeEnd === undefined ? {} : { rangeEnd: found.rangeEnd }),
  ...(found.gateway === undefined ? {} : { gateway: found.gateway }),
})

/** flannel's plugin takes the range from its agent's file: `FLANNEL_SUBNET=10.244.7.1/24`, an address inside it. */
const flannelRanges = (env: string): AddressRange[][] =>
  [...env.matchAll(/^FLANNEL_(?:IPV6_)?SUBNET=(\S+)$/gm)].flatMap(([, cidr = '']) => {
    if (!ipaddr.isValidCIDR(cidr)) return []
    const [, bits] = ipaddr.parseCIDR(cidr)
    const network = cidr.includes(':')
      ? ipaddr.IPv6.networkAddressFromCIDR(cidr)
      : ipaddr.IPv4.networkAddressFromCIDR(cidr)
    return [[{ subnet: `${network.toString()}/${bits}` }]]
  })

const defaultDataDir = '/var/lib/cni/networks'

const ipamOf = (plugins: Plugin[], env: string): { ipam: Conflist['ipam']; problem?: string } => {
  const flannel = plugins.find(each => each.type === 'flannel')
  const raw =
    flannel === undefined ? plugins.find(each => each.ipam?.type !== undefined)?.ipam : flannel.delegate?.ipam
  if (raw === undefined || raw === null) {
    const type = flannel === undefined ? 'none' : 'host-local'
    return {
      ipam: { type, dataDir: defaultDataDir, rangeSets: flannel === undefined ? [] : flannelRanges(env) },
    }
  }
  const read = ipam.safeParse({ type: 'host-local', ...raw })
  if (!read.success) {
    return {
      ipam: { type: 'unknown', dataDir: defaultDataDir, rangeSets: [] },
      problem: firstIssue(read.error),
    }
  }
  const { type, dataDir = defaultDataDir, ranges, subnet, ...rest } = read.data
  const legacy = subnet === undefined || !ipaddr.isValidCIDR(subnet) ? [] : [[clean({ subnet, ...rest })]]
  const rangeSets = [...legacy, ...(ranges ?? []).map(set => set.map(clean))]
  return {
    ipam: {
      type,
      dataDir,
      rangeSets: flannel === undefined || rangeSets.length > 0 ? rangeSets : flannelRanges(env),
    },
  }
}

const mostLetters = 256 * 1024

const readFile = (file: File, env: string): Omit<Conflist, 'others'> | { problem: string } => {
  // The probe cuts a file at 128 KiB.
  const json = file.text.length > mostLetters ? undefined : readJson(file.text)
  if (json === undefined) return { problem: whereBroken(file.text) }
  const read = file.path.endsWith('.conflist') ? list.safeParse(json) : undefined
  if (read !== undefined && !read.success) return { problem: firstIssue(read.error) }
  let found = read?.data
  if (found === undefined) {
    const alone = single.safeParse(json)
    if (!alone.success) return { problem: firstIssue(alone.error) }
    const { name, cniVersion } = alone.data
    found = { name, plugins: [alone.data], ...(cniVersion === undefined ? {} : { cniVersion }) }
  }
  const { ipam: addresses, problem } = ipamOf(found.plugins, env)
  if (problem !== undefined) return { problem: `ipam: ${problem}` }
  return {
    path: file.path,
    name: found.name,
    cniVersion: found.cniVersion,
    plugins: found.plugins.map(each => each.type),
    ipam: addresses,
  }
}

/**
 * The configuration the runtime reads: the first file in the order of names. containerd gives up when that one is
 * broken (go-cni, `loadFromConfDir`); CRI-O and cri-dockerd go on to the next valid one.
 */
export const readConflist = (
  section: Section,
  runtimeName: string | undefined,
  at: number,
): Answer<Conflist> => {
  if (section.code !== 0) return unknown(whyFailed('/etc/cni/net.d', section), at)
  const files = readFiles(section.body)
  const env = files.find(({ path }) => path.endsWith('/subnet.env'))?.text ?? ''
  const candidates = files.filter(({ path }) => !path.endsWith('/subnet.env'))
  const skips = runtimeName !== undefined && runtimeName !== 'containerd'
  let problem: string | undefined
  for (const file of candidates) {
    const read = readFile(file, env)
    if (!('problem' in read)) {
      const others = candidates.filter(({ path }) => path !== file.path).map(({ path }) => plain(path, 300))
      return known({ ...read, others }, at)
    }
    problem ??= `${plain(file.path, 300)}: ${plain(read.problem)}; repair or remove the file`
    if (!skips) break
  }
  const rest = candidates.length > 1 ? ` (${candidates.length - 1} more configuration files there)` : ''
  return unknown(
    problem === undefined
      ? '/etc/cni/net.d holds no CNI configuration; is the CNI agent running on this node?'
      : `${problem}${rest}`,
    at,
  )
}
