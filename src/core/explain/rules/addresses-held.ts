import { many } from '../../diagnosis/facts.js'
import { type Addresses, addressesOf, isMany } from '../../report/addresses.js'
import { type CauseRule, type Clue, clue, type Suspicion } from '../rule.js'

const ids = "the owner ids inside the address files, compared with the runtime's sandboxes of every state"

/** Advice differs by who keeps the addresses; host-local is the plain case. */
const wayOf = ({ manager }: Addresses): { way?: string } =>
  manager === 'host-local' || manager === 'other' ? {} : { way: manager }

const ownersSay = ({ owners }: Addresses): string =>
  owners?.most === undefined ? '' : `at most ${many(owners.most, 'sandbox', 'sandboxes')} can own one`

/** Counts prove it on a node whose store is files; another manager's number includes what cools down or is kept warm. */
const weightOf = (sum: Addresses): Clue['weight'] => {
  const sure = sum.by === 'ids' || sum.by === 'comparison' || sum.owners?.from !== 'pods'
  const files = sum.manager === 'host-local' || sum.by !== 'counts'
  return isMany(sum.unowned, sum.taken) && sure && files ? 'proves' : 'supports'
}

const withoutOwner: CauseRule = {
  name: 'addresses-without-owner',
  source:
    'host-local: one file an address, one owner a file; host-network Pods own none, NotReady sandboxes may own one',
  read: report => {
    const sum = addressesOf(report)
    const { unowned = 0, taken, usable, by } = sum
    // Pods that start hold an address before they are listed, and Pods that stop a little longer.
    if (unowned < (by === 'counts' ? 4 : 1)) return []
    const kept = taken === undefined ? '' : ` of ${taken} taken`
    const proof =
      by === 'counts'
        ? `at least ${many(unowned, 'address', 'addresses')}${kept} have no owner: ${ownersSay(sum)}`
        : `${many(unowned, 'address', 'addresses')}${kept} belong to nobody who lives`
    const few = sum.full === true && usable !== undefined && !isMany(unowned, usable)
    return [
      {
        cause: 'ipam-leak',
        ...wayOf(sum),
        for: [
          clue(proof, few ? 'supports' : weightOf(sum)),
          ...(sum.said
            ? [clue('the plugin has no address left to give', few && by !== 'ids' ? 'supports' : 'hints')]
            : []),
        ],
        missing: by === 'ids' ? [] : [ids],
      },
      ...(few ? [nearlyFull(sum)] : weightOf(sum) === 'proves' ? [notFull(sum)] : []),
    ]
  },
}

const nearlyFull = (sum: Addresses): Suspicion => ({
  cause: 'ipam-full-no-leak',
  ...wayOf(sum),
  for: [
    clue(
      `all but ${sum.unowned} of ${sum.usable} addresses may have a living owner: giving those back makes little room`,
      sum.by === 'ids' ? 'proves' : 'hints',
    ),
  ],
})

const notFull = ({ unowned }: Addresses): Suspicion => ({
  cause: 'ipam-full-no-leak',
  for: [],
  against: [clue(`${unowned} addresses cannot have a living owner`, 'proves')],
})

const fullOfLiving: CauseRule = {
  name: 'full-of-living',
  source: 'arithmetic: as many living owners as the range has addresses',
  read: report => {
    const sum = addressesOf(report)
    const { usable, owners, full, unowned = 0 } = sum
    if (full !== true || usable === undefined || owners === undefined || sum.outside) return []
    const { least, most = 0, from } = owners
    if (unowned >= 4 || (sum.by === 'ids' && unowned > 0) || most < usable - 3) return []
    // Dead sandboxes that are still listed may hold the rest: that is not a range full of the living.
    if (least !== undefined && most - least > usable / 4) return []
    const counted = least !== undefined && least >= usable - Math.max(2, usable / 50)
    const allHold = least === undefined ? most >= usable && from !== 'counted' : counted
    return [
      {
        cause: 'ipam-full-no-leak',
        ...wayOf(sum),
        for: [
          allHold
            ? clue(
                `all ${usable} addresses have a living owner: ${least ?? most} Pods hold one`,
                least === undefined ? 'supports' : 'proves',
              )
            : clue(`up to ${most} sandboxes may own the ${usable} addresses`, 'hints'),
          ...(sum.said ? [clue('the plugin has no address left to give', 'supports')] : []),
        ],
        missing: sum.by === 'ids' ? [] : [ids],
      },
      ...(counted
        ? [
            {
              cause: 'ipam-leak' as const,
              for: [],
              against: [clue('as many live as addresses are taken', 'supports')],
            },
          ]
        : []),
    ]
  },
}

const fullAfterCheck: CauseRule = {
  name: 'full-and-checked',
  source:
    'calicoctl ipam check, or files compared with sandboxes: a pool in full use in which nothing is without owner',
  read: report => {
    const { by, unowned, full, taken, usable } = addressesOf(report)
    if (by !== 'comparison' || full !== true || unowned === undefined || usable === undefined) return []
    if (unowned > usable / 50 || (taken ?? 0) < usable) return []
    const says = `all ${usable} addresses are in use, and a comparison found ${unowned} without an owner`
    return [{ cause: 'ipam-full-no-leak', ...wayOf(addressesOf(report)), for: [clue(says, 'proves')] }]
  },
}

const smallerThanLimit: CauseRule = {
  name: 'range-below-pod-limit',
  source:
    'arithmetic: a range that gives fewer addresses than maxPods allows Pods runs out while all of them live',
  read: report => {
    const sum = addressesOf(report)
    const { usable, maxPods, full, unowned } = sum
    if (full !== true || usable === undefined || maxPods === undefined || maxPods < usable) return []
    const weight = isMany(unowned, usable) ? 'hints' : 'supports'
    const says = `maxPods allows ${maxPods} Pods, the range gives ${usable} addresses`
    return [{ cause: 'ipam-full-no-leak', ...wayOf(sum), for: [clue(says, weight)] }]
  },
}

const moreThanLimit: CauseRule = {
  name: 'full-above-pod-limit',
  source: 'arithmetic: a node with maxPods (110 by default) cannot use up a range that is a lot larger',
  read: report => {
    const sum = addressesOf(report)
    const { usable, full, maxPods = 110, owners, manager } = sum
    if (full !== true || usable === undefined || owners !== undefined || manager !== 'host-local') return []
    if (usable < maxPods * 1.2 + 10) return []
    const known = sum.maxPods !== undefined
    const says = `all ${usable} addresses are taken where ${known ? `maxPods is ${maxPods}` : 'maxPods is 110 unless somebody raised it'}`
    return [
      {
        cause: 'ipam-leak',
        for: [clue(says, known ? 'supports' : 'hints')],
        missing: ['how many sandboxes the runtime lists, in every state', ids],
      },
    ]
  },
}

const roomThough: CauseRule = {
  name: 'room-though-said-full',
  source: 'a message is of its moment: what is counted now tells whether addresses are left now',
  read: report => {
    const { said, full, taken, usable, unowned, by } = addressesOf(report)
    if (!said || full !== false || by === 'ids' || isMany(unowned, taken)) return []
    const says = `${taken} of ${usable} addresses are taken by the count: there is room, or the count is of another place or time`
    const against = [clue(says, 'supports')]
    const missing = [
      'whether the message still comes, and whether the folder counted is the one of this network (dataDir, name)',
    ]
    return [
      { cause: 'ipam-full-no-leak', for: [], against, missing },
      { cause: 'ipam-leak', for: [], against, missing },
    ]
  },
}

const uncounted: CauseRule = {
  name: 'exhausted-not-counted',
  source:
    'containernetworking/plugins host-local, and the words of the other address managers: nothing is left, whoever holds it',
  read: report => {
    const sum = addressesOf(report)
    if (!sum.said || sum.by !== undefined || sum.manager === 'other') return []
    const says = 'the plugin runs and answers that no address is left'
    const missing =
      sum.manager === 'host-local'
        ? ['how many address files there are, and how many sandboxes in every state', ids]
        : [
            "the address manager's own list of what is assigned to whom",
            'how many Pods on the node use the Pod network',
          ]
    return [
      { cause: 'ipam-leak', ...wayOf(sum), for: [clue(says, 'supports')], missing },
      {
        cause: 'ipam-full-no-leak',
        ...wayOf(sum),
        for: [clue(says, 'supports')],
        missing,
      },
    ]
  },
}

const exhausted: CauseRule = {
  name: 'exhausted-with-room',
  source:
    'amazon-vpc-cni, Azure CNS and Cilium hold a pool of their own on each node: it can be used up while the subnet has room',
  read: report => {
    const sum = addressesOf(report)
    const away = new Set(['aws', 'azure', 'cilium'])
    if (!sum.said || !away.has(sum.manager) || (sum.unowned ?? 0) < 4) return []
    return [
      {
        cause: 'ipam-leak',
        ...wayOf(sum),
        for: [clue("the node's own pool is used up by fewer Pods than it holds", 'supports')],
      },
    ]
  },
}

export const heldRules: CauseRule[] = [
  withoutOwner,
  fullOfLiving,
  fullAfterCheck,
  smallerThanLimit,
  moreThanLimit,
  roomThough,
  uncounted,
  exhausted,
]
