import { once } from '../once.js'
import type { CommandSeen, Report } from '../report.js'

/** What an interface is for, told by its name: kernels and plugins name them the same everywhere. */
export type LinkKind = 'bridge' | 'overlay' | 'pod' | 'underlay' | 'docker' | 'other'

export interface LinkSeen {
  name: string
  kind: LinkKind
  mtu: number | undefined
  /** Undefined where the flags were not printed. */
  up: boolean | undefined
  /** UP without LOWER_UP, or NO-CARRIER: nothing is plugged in. */
  carrier: boolean | undefined
  master: string | undefined
  /** With their length, as printed; undefined where no addresses were asked for. */
  addresses: string[] | undefined
  cmd: string
}

const kinds: [LinkKind, RegExp][] = [
  ['docker', /^(?:docker\d|docker_gwbridge|br-[0-9a-f]{12}|virbr\d|lxcbr\d|podman\d)/],
  ['bridge', /^(?:cni\d|cbr\d|cni-?podman\d|mynet\d|weave$|kube-bridge$|crio0|bridge$|kindnet)/],
  [
    'overlay',
    /^(?:flannel[.\w-]*|vxlan[.-]\w+|vxlan\d*$|tunl\d|cilium_vxlan|cilium_geneve|cilium_wg\d|genev_sys_\d+|vxlan_sys_\d+|antrea-\w+|wg\d|wireguard\.cali|wg-v6\.cali|gre\w*|ipip\w*|kube-vxlan|vxlan-6784|tun-\w+|submariner\w*|vx-\w+|ovn-\w+)/,
  ],
  ['pod', /^(?:veth\w*|cali[0-9a-f]\w*|lxc(?!_)\w+|eni[0-9a-f]{11}\w*|azv\w+|gke\w+|nodelocaldns)/],
  [
    'underlay',
    /^(?:eth\d|ens\d|enp\d|eno\d|enX\d|enx[0-9a-f]|em\d|bond\d|team\d|p\d+p\d|wlan\d|wlp\d|vmbr\d|br0$|br-ex$|ib\d)/,
  ],
]

export const kindOfLink = (name: string): LinkKind =>
  kinds.find(([, pattern]) => pattern.test(name))?.[0] ?? 'other'

/** A command that was run inside a Pod: its eth0 is the Pod's end of a pair. */
export const insidePod = (cmd: string): boolean =>
  /\b(?:kubectl|oc|k|crictl|docker|nerdctl|podman)\b.{0,200}\b(?:exec|rsh|attach|debug|run)\b|\bnsenter\b|ip netns exec|\bin(?:side)?\s(?:the\s|a\s)?(?:pod|container)\b/i.test(
    cmd.slice(0, 1_000),
  )

const header =
  /^\s*(?:\d{1,6}:\s)?([\w.-]{1,16})(?:@[\w.-]{1,20})?:?\s{0,8}(?:<([A-Z0-9,_-]{0,200})>|flags=\d{1,8}<([A-Z0-9,_-]{0,200})>)\s{0,4}(.{0,400})/
const brief =
  /^([\w.-]{1,16})(?:@[\w.-]{1,20})?\s{1,24}(UP|DOWN|UNKNOWN|LOWERLAYERDOWN)(?:\s{1,40}(\S.{0,600}))?$/
const sysfs = /\/sys\/class\/net\/([\w.-]{1,16})\/mtu/

const asksAddresses = (cmd: string): boolean => /\bip\b.{0,60}\ba(?:d|dd|ddr|ddress)?\b|ifconfig/.test(cmd)

const ofHeader = (line: string, cmd: string): LinkSeen | undefined => {
  const [, name, flags, oldFlags, rest = ''] = header.exec(line) ?? []
  if (name === undefined) return undefined
  const set = (flags ?? oldFlags ?? '').split(',')
  return {
    name,
    kind: insidePod(cmd) && /^(?:eth|net)\d/.test(name) ? 'pod' : kindOfLink(name),
    mtu: mtuIn(rest),
    up: set.includes('UP'),
    carrier: !set.includes('NO-CARRIER') && !/state (?:DOWN|LOWERLAYERDOWN)/.test(rest),
    master: /\bmaster ([\w.-]{1,16})/.exec(rest)?.[1],
    addresses: asksAddresses(cmd) ? [] : undefined,
    cmd,
  }
}

const mtuIn = (text: string): number | undefined => {
  const [, found] = /\bmtu[ :=]{1,3}(\d{3,5})\b/i.exec(text) ?? []
  return found === undefined ? undefined : Number(found)
}

const ofBrief = (line: string, cmd: string): LinkSeen | undefined => {
  const [, name, state, rest = ''] = brief.exec(line.trim()) ?? []
  if (name === undefined) return undefined
  const inside = insidePod(cmd) && /^eth\d/.test(name)
  return {
    name,
    kind: inside ? 'pod' : kindOfLink(name),
    mtu: undefined,
    up: state !== 'DOWN',
    carrier: state !== 'DOWN' && state !== 'LOWERLAYERDOWN',
    master: undefined,
    addresses: /\ba/.test(cmd) ? rest.split(/\s+/).filter(word => word.includes('/')) : undefined,
    cmd,
  }
}

const withAddress = (link: LinkSeen | undefined, line: string): void => {
  const [, address, mask] =
    /\binet6? (?:addr:)?([0-9a-f.:]{2,45}(?:\/\d{1,3})?)(?:\s{1,4}netmask ([\d.]{7,15}))?/i.exec(line) ?? []
  if (link === undefined || address === undefined) return
  link.addresses = [...(link.addresses ?? []), mask === undefined ? address : `${address}/${lengthOf(mask)}`]
}

const lengthOf = (mask: string): number =>
  mask
    .split('.')
    .map(part => Number(part).toString(2).replaceAll('0', '').length)
    .reduce((sum, each) => sum + each, 0)

const short = /^\s*([\w.-]{1,16})(?:@[\w.-]{1,20})?\s*[:=]?\s{0,8}(?:.{0,60}\s)?mtu[ :=]{1,3}\d{3,5}/i

const linksOf = ({ cmd, output }: CommandSeen): LinkSeen[] => {
  const links: LinkSeen[] = []
  for (const line of output.slice(0, 2_000).map(each => each.slice(0, 1_000))) {
    const found = ofHeader(line, cmd) ?? ofBrief(line, cmd) ?? plainMtu(line, cmd)
    if (found) links.push(found)
    else {
      withAddress(links.at(-1), line)
      const last = links.at(-1)
      if (last && last.mtu === undefined) last.mtu = mtuIn(line)
    }
  }
  const [, name] = sysfs.exec(cmd) ?? []
  const [only] = output
  if (name !== undefined && /^\d{3,5}$/.test(only?.trim() ?? '')) {
    const kind: LinkKind = insidePod(cmd) ? 'pod' : kindOfLink(name)
    links.push({ ...unknownLink, name, kind, mtu: Number(only), cmd })
  }
  return links
}

const unknownLink = { up: undefined, carrier: undefined, master: undefined, addresses: undefined }

/** `flannel.1 mtu 1450`, as filters print a link's line. */
const plainMtu = (line: string, cmd: string): LinkSeen | undefined => {
  const [, name] = short.exec(line) ?? []
  if (name === undefined) {
    const [, known, mtu] = /^\/sys\/class\/net\/([\w.-]{1,16})\/mtu:\s{0,4}(\d{3,5})$/.exec(line.trim()) ?? []
    return known === undefined
      ? undefined
      : { ...unknownLink, name: known, kind: kindOfLink(known), mtu: Number(mtu), cmd }
  }
  const inside = insidePod(cmd) && /^eth\d/.test(name)
  const kind: LinkKind = inside ? 'pod' : kindOfLink(name)
  return kind === 'other' ? undefined : { ...unknownLink, name, kind, mtu: mtuIn(line), cmd }
}

/** Every interface that any command printed. */
export const linksSeen = once((report: Report): LinkSeen[] => report.commands.flatMap(linksOf))
