import { many } from '../../diagnosis/facts.js'
import { addressesOf } from '../../report/addresses.js'
import { linesWith, quoted } from '../../report/ask.js'
import { type CauseRule, clue } from '../rule.js'

const subnetOut: CauseRule = {
  name: 'cloud-subnet-empty',
  source:
    'EC2 InsufficientFreeAddressesInSubnet, Azure SubnetIsFull: the network behind all nodes has none left',
  read: report => {
    const words =
      /InsufficientFreeAddressesInSubnet|not have enough free addresses|insufficient free address|SubnetIsFull|subnet .{1,120} (?:is full|has no free)/i
    const [line] = linesWith(report, words)
    if (line === undefined) return []
    const says = `the cloud says that the subnet is empty: ${quoted(line.text)}`
    return [{ cause: 'ipam-full-no-leak', way: 'subnet', for: [clue(says, 'proves')] }]
  },
}

const emptyFiles: CauseRule = {
  name: 'files-without-content',
  source:
    'containernetworking/plugins#498: a crash or a full disk between create and write leaves a file that no DEL matches',
  read: report => {
    const { emptyFiles: empty } = addressesOf(report)
    if (empty === 0) return []
    const full = linesWith(report, /no space left on device|read-only file system|disk quota exceeded/i)
    const says = `${many(empty, 'address file is', 'address files are')} empty: no owner was ever written, no teardown will match`
    return [
      {
        cause: 'ipam-leak',
        way: 'empty-files',
        for: [
          clue(says, 'supports'),
          ...full.slice(0, 1).map(({ text }) => clue(`the disk was full: ${quoted(text)}`, 'supports')),
        ],
        missing: ['whether an interface on the node carries one of those addresses'],
      },
      ...(full[0] === undefined
        ? []
        : [
            {
              cause: 'node-pressure' as const,
              for: [clue('a full disk kept the plugin from writing its files', 'supports')],
            },
          ]),
    ]
  },
}

const otherRange: CauseRule = {
  name: 'files-of-another-range',
  source: 'host-local counts only what lies in its ranges: files of an earlier Pod CIDR take nothing up',
  read: report => {
    if (!addressesOf(report).outside) return []
    const says =
      'the address files are of a range that the node no longer has: they take up nothing of the present one'
    return [{ cause: 'ipam-leak', for: [], against: [clue(says, 'supports')] }]
  },
}

/** What single files or the network behind the node tell. */
export const fileRules: CauseRule[] = [subnetOut, emptyFiles, otherRange]
