import { many } from '../../diagnosis/facts.js'
import { addressesOf, noneLeft } from '../../report/addresses.js'
import { messagesWith, quoted } from '../../report/ask.js'
import { type Assignment, assignmentsOf } from '../../report/assignments.js'
import type { Report } from '../../report/report.js'
import { type CauseRule, clue } from '../rule.js'

const bareName = (pod: string): string => pod.split('/').at(-1) ?? pod
const isAddress = ({ key }: Assignment): boolean => key.includes('.')

const way = (report: Report): { way?: string } => {
  const { manager } = addressesOf(report)
  return manager === 'host-local' || manager === 'other' ? {} : { way: manager }
}

const twoForOne: CauseRule = {
  name: 'two-addresses-one-pod',
  source:
    'projectcalico/calico#5004, azure-container-networking#4497: a sandbox made again takes a new address, the old one stays under the same Pod',
  read: report => {
    const listed = assignmentsOf(report).filter(isAddress)
    const perPod = [...new Set(listed.map(({ pod }) => pod))].map(pod =>
      listed.filter(each => each.pod === pod),
    )
    const double = perPod.filter(held => new Set(held.map(({ key }) => key)).size > 1)
    const [first] = double
    if (first === undefined) return []
    const living = report.pods.some(
      pod => pod.name === bareName(first[0]?.pod ?? '') && first.some(({ key }) => key === pod.ip),
    )
    const says = `the address manager keeps ${many(first.length, 'address', 'addresses')} for one Pod${living ? ', which uses only one of them' : ''}`
    return [
      {
        cause: 'ipam-leak',
        ...way(report),
        for: [clue(says, living ? 'proves' : 'supports')],
        missing: ['which of these belongs to the sandbox that the Pod has now, by container id'],
      },
    ]
  },
}

/** Pods that wait for an address now. */
const waiting = ({ lines, pods }: Report): Set<string> => {
  const told = lines.filter(({ text, from }) => from !== 'command' && noneLeft.test(text.slice(0, 8_192)))
  return new Set(
    [
      ...told.flatMap(({ object, reading }) => [object?.split('/').at(-1), reading?.pod]),
      ...pods.filter(({ status }) => status === 'ContainerCreating').map(({ name }) => name),
    ].filter(name => name !== undefined),
  )
}

const ownOldAddress: CauseRule = {
  name: 'waiting-pod-holds-address',
  source:
    'k8snetworkplumbingwg/whereabouts#291: the reservation of the earlier sandbox is kept under another container id',
  read: report => {
    const names = waiting(report)
    const held = assignmentsOf(report).filter(({ pod }) => names.has(bareName(pod)))
    if (held[0] === undefined) return []
    const says =
      'the very Pod that waits for an address has one reserved already: it belongs to an earlier sandbox of it'
    return [
      {
        cause: 'ipam-leak',
        ...way(report),
        for: [clue(says, addressesOf(report).said ? 'proves' : 'supports')],
        missing: ['whether the container id of that reservation exists on any node'],
      },
    ]
  },
}

/** Calico's own garbage collector: a candidate is not yet waited for, a confirmed one is released next. */
const namedByCollector: CauseRule = {
  name: 'collector-names-leak',
  source:
    'projectcalico kube-controllers, ipam_allocation.go: leaked allocations are candidates for a grace period',
  read: report => {
    const [confirmed] = messagesWith(report, /\bconfirmed IP leak/i)
    const [candidate] = messagesWith(
      report,
      /\bcandidate IP leak|Calico Node referenced in IPAM data does not exist/i,
    )
    const told = confirmed ?? candidate
    if (told === undefined) return []
    const says = `the address manager's own collector names it: ${quoted(told.text)}`
    return [
      {
        cause: 'ipam-leak',
        ...way(report),
        for: [clue(says, confirmed ? 'proves' : 'supports')],
        missing: confirmed ? [] : ['whether the collector confirms it after its grace period'],
      },
    ]
  },
}

export const listedRules: CauseRule[] = [twoForOne, ownOldAddress, namedByCollector]
