import { many } from '../../diagnosis/facts.js'
import { inRanges } from '../../ipam/range-set.js'
import { addressesOf } from '../../report/addresses.js'
import { linesWith, quoted } from '../../report/ask.js'
import { rangeSetsOf } from '../../report/range-sets.js'
import type { PodRow, Report } from '../../report/report.js'
import type { CauseRule, Clue, Suspicion } from '../rule.js'

/** A Pod that has ended keeps its address in the table, and one that ends may have given it back. */
const ended =
  /^(?:Completed|Succeeded|Failed|Error|Evicted|OOMKilled|Terminating|Terminated|Pending|ContainerCreating|NodeLost|Unknown|Shutdown|NodeShutdown|ContainerStatusUnknown)/

interface Held {
  ip: string
  secondary: boolean
  pod: PodRow
}

/** Addresses of a row: the column, and what secondary networks print as `net1=10.77.4.19`. */
const heldBy = (pod: PodRow): Held[] => [
  ...(pod.ip === undefined ? [] : [{ ip: pod.ip, secondary: false, pod }]),
  ...[...pod.text.slice(0, 2_000).matchAll(/\b(?:net\d{1,2}|eth[1-9])[=:](\d{1,3}(?:\.\d{1,3}){3})/g)].map(
    match => ({
      ip: match[1] ?? '',
      secondary: true,
      pod,
    }),
  ),
]

const lastWord = (pod: PodRow): string => pod.node ?? pod.text.trim().split(/\s+/).at(-1) ?? ''

/** A host route to this one address through a Pod's own interface: no address of the node. */
const isRoutedToPod = (report: Report, ip: string): boolean =>
  [...report.routes.flatMap(({ lines }) => lines), ...report.lines.map(({ text }) => text)].some(line =>
    new RegExp(
      `(?:^|\\s)${ip.replaceAll('.', '\\.')}(?:/32)? dev (?:cali|veth|lxc|eni|azv|gke|cilium|vnet)`,
    ).test(line.slice(0, 500)),
  )

/** Addresses that two living Pods hold. Pods on the host network share their node's: one node, no Pod range. */
const doublesOf = (report: Report): Held[][] => {
  const groups = new Map<string, Held[]>()
  for (const pod of report.pods.filter(({ status }) => !ended.test(status)))
    for (const held of heldBy(pod)) groups.set(held.ip, [...(groups.get(held.ip) ?? []), held])
  const sets = rangeSetsOf(report)
  return [...groups.values()].filter(held => {
    const nodes = new Set(held.map(({ pod }) => lastWord(pod)))
    const names = new Set(held.map(({ pod }) => `${pod.namespace}/${pod.name}`))
    const ip = held[0]?.ip ?? ''
    const own = held[0]?.secondary || inRanges(ip, sets) || isRoutedToPod(report, ip)
    const hostNetwork = nodes.size === 1 && !own
    return names.size > 1 && !hostNetwork
  })
}

const answered =
  /Received [1-9]\d{0,3} response|duplicate address (?:detected|found)|Unicast reply from|(?:is )?already in use by .{0,60}(?:MAC|lladdr)|IP conflict/i

const freed =
  /releas(?:ed|ing) .{0,80}(?:orphan|stale|leak|reservation|unused)|(?:cleaned|cleaning) up .{0,60}(?:ip|address|reservation|allocation)|Garbage collect(?:ed|ing) leaked IP|not listed in the live pods list|Confirmed IP leak/i
const wiped =
  /\brm\s+-\w*[rf]\w*\s+\S*\/cni\/(?:networks|cache)|\b(?:nuked|wiped|emptied|deleted|cleared|removed|rm -rf)\b.{0,60}(?:cni|ipam|networks|reservation|allocation)/i

const why = (report: Report, ips: readonly string[]): { way?: string; for: Clue[] } => {
  const lines = linesWith(report, freed)
  const own = lines.find(({ text }) => ips.some(ip => text.includes(ip)))
  const wipe =
    report.commands.find(({ cmd }) => wiped.test(cmd.slice(0, 2_000)))?.cmd ??
    (wiped.test((report.symptom ?? '').slice(0, 2_000)) ? report.symptom : undefined)
  if (own)
    return {
      way: 'reconciler',
      for: [{ says: `a clean-up gave that very address back: ${quoted(own.text)}`, weight: 'proves' }],
    }
  if (lines[0])
    return {
      way: 'reconciler',
      for: [{ says: `a clean-up was giving addresses back: ${quoted(lines[0].text)}`, weight: 'supports' }],
    }
  if (wipe !== undefined)
    return { way: 'wiped', for: [{ says: `reservations were deleted: ${quoted(wipe)}`, weight: 'supports' }] }
  const gone = report.commands.find(
    ({ cmd, output }) =>
      /\/cni\/networks/.test(cmd.slice(0, 2_000)) &&
      output.every(line => line.trim() === '' || /No such file or directory|^total 0$|^0$/.test(line)),
  )
  if (gone)
    return {
      way: 'wiped',
      for: [{ says: 'the store of addresses is empty or gone while Pods live', weight: 'supports' }],
    }
  return { for: [] }
}

const twoHolders: CauseRule = {
  name: 'one-address-two-pods',
  source:
    'kubectl get pods -o wide; whereabouts#176 and #208: reservations of living Pods were freed and given out again',
  read: report => {
    const doubles = doublesOf(report)
    const [first] = doubles
    if (first === undefined) return []
    const reason = why(
      report,
      doubles.flatMap(held => held.map(({ ip }) => ip)),
    )
    const cluster = addressesOf(report).manager !== 'host-local' || first.some(({ secondary }) => secondary)
    const nodes = new Set(first.map(({ pod }) => lastWord(pod)))
    // Where each node has a range of its own, one address on two nodes means that two nodes have the same range: a configuration.
    const weight = cluster || nodes.size === 1 ? 'proves' : reason.for.length > 0 ? 'supports' : 'hints'
    const says = `${many(first.length, 'Pod')} that run hold ${first[0]?.ip}${doubles.length > 1 ? `, and ${doubles.length - 1} more addresses are held twice` : ''}`
    const [reply] = linesWith(report, answered)
    return [
      {
        cause: 'duplicate-ip',
        ...reason,
        for: [
          { says, weight },
          ...reason.for,
          ...(reply
            ? [{ says: `the network has another holder: ${quoted(reply.text)}`, weight: 'supports' as const }]
            : []),
        ],
        missing:
          reason.for.length > 0
            ? []
            : ['what freed the reservation: a clean-up, a wiped store, a restored snapshot'],
      },
    ]
  },
}

const toldTwice: CauseRule = {
  name: 'address-conflict-told',
  source:
    'arping -D, kernel duplicate address detection, OVN and Calico logs name an address with two holders',
  read: report => {
    const [line] = linesWith(report, answered)
    const symptom =
      /(?:same|duplicate|dup|double)\w* .{0,20}\b(?:ip|ips|address|addresses)\b|two pods .{0,60}(?:ip|arp|address)/i.test(
        (report.symptom ?? '').slice(0, 2_000),
      )
    if (doublesOf(report).length > 0 || (line === undefined && !symptom)) return []
    const reason = why(report, [])
    const clues: Clue[] = [
      ...(line
        ? [
            {
              says: `somebody else answers for an address: ${quoted(line.text)}`,
              weight: 'supports' as const,
            },
          ]
        : []),
      ...(symptom ? [{ says: 'one address is said to be held twice', weight: 'hints' as const }] : []),
      ...(line || symptom
        ? reason.for.map(clue => (clue.weight === 'proves' ? { ...clue, weight: 'supports' as const } : clue))
        : []),
    ]
    const missing = ['kubectl get pods -A -o wide sorted by address, with who is on the host network']
    return [
      {
        cause: 'duplicate-ip',
        ...(reason.way === undefined ? {} : { way: reason.way }),
        for: clues,
        missing,
      },
    ]
  },
}

const ownersWithoutFile: CauseRule = {
  name: 'owners-without-address-file',
  source:
    'host-local gives out whatever has no file: a living Pod without one can lose its address to another',
  read: report => {
    const sum = addressesOf(report)
    const { owners, taken, manager, outside } = sum
    const lost = (owners?.least ?? 0) - (taken ?? Number.MAX_SAFE_INTEGER)
    if (manager !== 'host-local' || outside || report.store?.byId !== undefined || lost < 4) return []
    const reason = why(report, [])
    const suspicion: Suspicion = {
      cause: 'duplicate-ip',
      way: reason.way ?? 'wiped',
      for: [
        {
          says: `${many(lost, 'sandbox', 'sandboxes')} on the Pod network own no address file: the plugin may give their addresses to others`,
          weight: reason.for.length > 0 ? 'supports' : 'hints',
        },
        ...reason.for,
      ],
      missing: ['whether two Pods hold the same address now'],
    }
    return [suspicion]
  },
}

export const doubleRules: CauseRule[] = [twoHolders, toldTwice, ownersWithoutFile]
