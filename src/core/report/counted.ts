import { once } from './once.js'
import { subnetsIn } from './range-sets.js'
import type { CommandSeen, Report } from './report.js'

/** Numbers that people counted by hand or that an address manager printed; undefined where none was. */
export interface Counted {
  /** Address files in the store; bookkeeping taken off where the command did not. */
  files: number | undefined
  emptyFiles: number | undefined
  /** Sandboxes the runtime lists, of every state that was asked for, host network counted. */
  sandboxes: number | undefined
  /** Pods bound to the node, host network counted. */
  pods: number | undefined
  maxPods: number | undefined
  /** Held and in no list of the living, as a comparison of both printed it. */
  unowned: number | undefined
  /** What a manager of its own says: addresses it has, and those it gave. */
  pool: { total: number; taken: number } | undefined
}

const store = /\/cni\/networks|cni-ipam-state|\/run\/antrea\/cni/
const lists =
  /\bcrictl\b.{0,40}\bpods?\b|\bcrictl\b.{0,20}\bps\b|\bdocker\b.{0,20}\bps\b|\bpodman\b.{0,20}\bps\b/
const counts = /\bwc\s+-l\b|\b(?:grep|rg)\s+-\w*c|\blength\b/
const partial = /-mtime|-mmin|-newer|\bhead\b|\btail\b/
const onlyAddresses =
  /grep\s+-\w*[vE]|-name\s|\[0-9|-regex|last_reserved|-type f\b.{0,60}-name|-not\b|ipam-state/

const bounded = ({ cmd }: CommandSeen): string => cmd.slice(0, 2_000)

/** The one number that a command printed, alone on its last line or at its end. */
const number = ({ output }: CommandSeen): number | undefined => {
  const filled = output.map(line => line.trim()).filter(line => line !== '')
  const last = filled.at(-1) ?? ''
  const match = filled.length <= 3 ? /(?:^|[^\d.:/-])(\d{1,7})$/.exec(last.slice(-200)) : null
  return match ? Number(match[1]) : undefined
}

const first = <T>(list: readonly T[], read: (one: T) => number | undefined): number | undefined => {
  for (const one of list) {
    const found = read(one)
    if (found !== undefined) return found
  }
  return undefined
}

const empty = /-size\s+-?0|-empty\b|\$5\s*==\s*0/
const address = /^(?:\d{1,3}(?:\.\d{1,3}){3}|[0-9a-f]{0,4}(?::[0-9a-f]{0,4}){2,7})$/

const listedFiles = ({ output }: CommandSeen): number | undefined => {
  const names = output.flatMap(line => line.slice(0, 20_000).split(/\s+/)).filter(word => address.test(word))
  return names.length > 0 ? new Set(names).size : undefined
}

const filesIn = (command: CommandSeen): number | undefined => {
  const cmd = bounded(command)
  if (!store.test(cmd) || empty.test(cmd) || partial.test(cmd) || lists.test(cmd)) return undefined
  if (/\buniq\s+-c\b/.test(cmd)) return histogram(command)
  if (!counts.test(cmd))
    return /^\s*(?:sudo\s+)?(?:ls|find|tree)\b/.test(cmd) ? listedFiles(command) : undefined
  const told = number(command)
  // `ls | wc -l` counts `lock` and `last_reserved_ip.0` as well.
  return told === undefined ? undefined : onlyAddresses.test(cmd) ? told : Math.max(0, told - 2)
}

/** `58 2022-01-25` a line: files a day. */
const histogram = ({ output }: CommandSeen): number | undefined => {
  const rows = output.flatMap(line => /^\s*(\d{1,6})\s+\d{4}-\d\d-\d\d/.exec(line.slice(0, 200))?.[1] ?? [])
  return rows.length > 0 ? rows.reduce((sum, each) => sum + Number(each), 0) : undefined
}

const emptyIn = (command: CommandSeen): number | undefined => {
  const cmd = bounded(command)
  if (!store.test(cmd) || !empty.test(cmd)) return undefined
  return counts.test(cmd) ? number(command) : listedFiles(command)
}

const filtered = /--state|status=|--namespace|--name\b|--label|\s-l\s|--latest|--last|\bgrep\b(?!\s+-\w*v)/i

const sandboxesIn = (command: CommandSeen): number | undefined => {
  const cmd = bounded(command)
  if (!lists.test(cmd) || store.test(cmd)) return undefined
  if (/\bcrictl\b.{0,20}\bps\b/.test(cmd)) return undefined
  const ofSandboxes = /\bcrictl\b/.test(cmd) || /podsandbox|pause|k8s_POD/i.test(cmd)
  if (
    !ofSandboxes ||
    filtered.test(
      cmd.replace(/-+\w*\s*label[=\s]\S*|grep\s+-\w*c?\s+\S*(?:k8s_POD|podsandbox|pause)\S*/gi, ''),
    )
  )
    return undefined
  if (!counts.test(cmd)) {
    const rows = command.output.filter(line => /\s(?:Ready|NotReady)\s/.test(line.slice(0, 400))).length
    return rows > 0 && !partial.test(cmd) ? rows : undefined
  }
  const told = number(command)
  const header = /-\w*q|--quiet|--no-headers|-o json|grep\s+-\w*v|\bdocker\b/.test(cmd) ? 0 : 1
  return told === undefined ? undefined : Math.max(0, told - header)
}

const podsIn = (command: CommandSeen): number | undefined => {
  const cmd = bounded(command)
  if (/\bdescribe\s+nodes?\b/.test(cmd))
    return first(command.output, line => {
      const match = /Non-terminated Pods:\s{0,20}\((\d{1,5}) in total\)/.exec(line.slice(0, 200))
      return match ? Number(match[1]) : undefined
    })
  const onNode = /\bget\s+(?:pods?|po)\b/.test(cmd) && /spec\.nodeName|\bgrep\b/.test(cmd) && counts.test(cmd)
  return onNode ? number(command) : undefined
}

const limit = /(?:max-?pods["']?\s{0,3}[=:]\s{0,3}|^\s{1,8}pods:\s{1,20})(\d{1,5})\b/i

const maxPodsIn = ({ cmd, output }: CommandSeen): number | undefined =>
  first([...output, cmd], text => {
    const match = limit.exec(text.slice(0, 4_000))
    if (match) return Number(match[1])
    const asked = /allocatable\.pods|capacity\.pods/.test(cmd.slice(0, 2_000))
    const last = asked ? /(?:^|\s)(\d{1,5})\s*$/.exec(text.slice(0, 400)) : null
    return last ? Number(last[1]) : undefined
  })

/** A command that reads both the store and the list of the living counts what is in the one and not in the other. */
const unownedIn = (command: CommandSeen): number | undefined => {
  const cmd = bounded(command)
  if (!store.test(cmd) || !lists.test(cmd) || /\bcomm\s+-12\b/.test(cmd)) return undefined
  if (counts.test(cmd)) return number(command)
  const said = command.output.filter(line =>
    /orphan|stale|leak|not found|no such|gone|dead/i.test(line.slice(0, 400)),
  )
  return said.length > 0 ? said.length : undefined
}

const pools: RegExp[] = [
  // amazon-vpc-cni's ipamd
  /"?total"?\s{0,3}[:=]?\s{0,3}(\d{1,6})[,;]?\s{0,3}"?assigned"?\s{0,3}[:=]?\s{0,3}(\d{1,6})/i,
  /IP pool stats: total\s?=\s?(\d{1,6}), used\s?=\s?(\d{1,6})/i,
  /"?TotalIPs"?\s{0,3}[:=]\s{0,3}(\d{1,6}),\s{0,3}"?AssignedIPs"?\s{0,3}[:=]\s{0,3}(\d{1,6})/i,
  // calicoctl ipam show: | IP Pool | 10.233.64.0/18 | 16384 | 15381 (94%) |
  /IP Pool\s{0,9}\|[^|]{1,60}\|\s{0,9}(\d{1,9})\s{0,9}\|\s{0,9}(\d{1,9})\b/,
]
/** cilium status: `IPAM: IPv4: 254/254 allocated from 10.0.1.0/24`. */
const taken = /IPv4:\s{0,3}(\d{1,7})\/(\d{1,7}) allocated/

const poolOf = ({ lines }: Report): Counted['pool'] => {
  for (const { text } of lines.toReversed()) {
    const line = text.slice(0, 2_000)
    const match = pools.map(pattern => pattern.exec(line)).find(each => each !== null)
    if (match) return { total: Number(match[1]), taken: Number(match[2]) }
    const cilium = taken.exec(line)
    if (cilium) return { total: Number(cilium[2]), taken: Number(cilium[1]) }
  }
  return undefined
}

/** calicoctl ipam check and its like. */
const checked =
  /Found (\d{1,7}) IPs that are allocated in IPAM but not actually in use|(\d{1,7}) (?:leaked|orphan(?:ed)?|stale) (?:ip|address|allocation|reservation)/i

const checkedIn = ({ lines }: Report): number | undefined =>
  first(lines, ({ text }) => {
    const match = checked.exec(text.slice(0, 2_000))
    return match ? Number(match[1] ?? match[2]) : undefined
  })

/** What was counted by hand, in whatever command of this kind there is. */
export const countedIn = once((report: Report): Counted => {
  const { commands, environment } = report
  const told = Number(/\d{1,5}/.exec(environment.get('max_pods') ?? '')?.[0] ?? Number.NaN)
  return {
    files: first(commands, filesIn),
    emptyFiles: first(commands, emptyIn),
    sandboxes: first(commands, sandboxesIn),
    pods: first(commands, podsIn),
    maxPods: first(commands, maxPodsIn) ?? (Number.isNaN(told) ? undefined : told),
    unowned: first(commands, unownedIn) ?? checkedIn(report),
    pool: poolOf(report),
  }
})

/** The range that the node's own Pod CIDR names in what commands printed: `PodCIDR: 10.42.3.0/24`, FLANNEL_SUBNET=10.42.3.1/24. */
export const printedCidr = ({ commands }: Report): string | undefined =>
  commands
    .flatMap(({ cmd, output }) =>
      output.filter(line =>
        /PodCIDR|FLANNEL_SUBNET|podCIDR/.test(`${line.slice(0, 400)} ${cmd.slice(0, 400)}`),
      ),
    )
    .flatMap(line => subnetsIn(line.slice(0, 400)))
    .at(0)?.subnet
