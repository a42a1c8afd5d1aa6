import { quoted } from '../../report/ask.js'
import { binaryListings } from '../../report/cni-directory.js'
import { agentOf, isForeign, networkOfPlugin, podRowsOf } from '../../report/network-agents.js'
import type { Report } from '../../report/report.js'
import type { Spoken } from '../../report/spoken.js'
import { type CauseRule, type Clue, clue, type Suspicion } from '../rule.js'
import { ofCode, saying, told } from './plugin-clues.js'

/** What the containernetworking release holds: any network may need it, so that a configuration naming it is not stale. */
const standard =
  /^(?:bandwidth|bridge|dhcp|dummy|firewall|host-device|host-local|ipvlan|loopback|macvlan|portmap|ptp|sbr|static|tap|tuning|vlan|vrf)$/
/** Called in a chain by programs that are not the network; removing them may leave their line behind. */
const chained =
  /^(?:istio-cni|linkerd-cni|kuma-cni|consul-cni|ambient|multus|sriov|whereabouts|tc-redirect-tap|meshnet)/

const namesOf = (messages: readonly Spoken[]): string[] => [
  ...new Set(
    messages.flatMap(({ text }) =>
      [
        ...text.slice(0, 8_192).matchAll(/failed to find plugin \\{0,7}["'`]([\w.-]{1,100})\\{0,7}["'`]/g),
      ].map(match => match[1] ?? ''),
    ),
  ),
]

/** Of something that is not installed (any more): the line that names it is what is wrong. */
const isStale = (report: Report, name: string): boolean => {
  if (isForeign(report, networkOfPlugin(name))) return true
  if (!chained.test(name)) return false
  const rows = podRowsOf(report)
  const stem = name.split('-')[0] ?? name
  return rows.length > 3 && !rows.some(row => row.name.includes(stem) || agentOf(row.name).includes('multus'))
}

const weigh = (report: Report, names: readonly string[]): Clue[] => {
  const listings = binaryListings(report)
  const [first] = names
  const lacks =
    listings.length > 0 && names.every(name => !listings.some(({ names: there }) => there.includes(name)))
  const known = names.some(name => standard.test(name))
  const list = names.map(name => quoted(name, 40)).join(' and ')
  const says = first === undefined ? 'a plugin binary is missing' : `the runtime does not find ${list}`
  const clues = [clue(says, known || lacks ? 'proves' : 'supports')]
  if (lacks) clues.push(clue('the listing of the directory does not show it either', 'supports'))
  return clues
}

const binaryMissing: CauseRule = {
  name: 'plugin-binary-missing',
  source:
    "libcni: a plugin is a program of its type's name in the search path; containernetworking/plugins releases",
  read: report => {
    const messages = ofCode(report, 'CNI_BIN_MISSING')
    if (messages.length === 0) return []
    const names = namesOf(messages)
    const stale = names.filter(name => isStale(report, name))
    if (stale.length > 0 && stale.length === names.length) {
      const says = `${quoted(stale[0] ?? '', 60)} is not installed here, and a configuration still names it`
      return [
        { cause: 'cni-config-wrong', way: 'stale-plugin', for: [clue(says, 'supports')] },
        { cause: 'cni-plugin-missing', for: [clue(told(messages[0] as Spoken), 'hints')] },
      ]
    }
    const there = binaryListings(report).find(({ names: listed }) =>
      names.some(name => listed.includes(name)),
    )
    const found: Suspicion[] =
      there === undefined
        ? []
        : [
            {
              cause: 'cni-config-wrong',
              way: 'search-path',
              for: [
                clue(
                  `the binary lies in ${quoted(there.path)}, which the runtime may not search`,
                  'supports',
                ),
              ],
            },
          ]
    const missing =
      binaryListings(report).length > 0
        ? []
        : ['a listing of the directory of plugin binaries, here and on a healthy node']
    const clues = there === undefined ? weigh(report, names) : [clue(told(messages[0] as Spoken), 'supports')]
    return [{ cause: 'cni-plugin-missing', for: clues, missing }, ...found]
  },
}

const hostTools =
  /\b(?:ip6?tables(?:-save|-restore)?|ipset|conntrack|ebtables|nft|nsenter|modprobe|sysctl|tc|ip|ethtool)\\{0,7}["'`]?: executable file not found/i

const toolMissing: CauseRule = {
  name: 'host-tool-missing',
  source:
    'plugins call iptables, ipset, nsenter and the like of the host: os/exec "executable file not found in $PATH"',
  read: report => {
    const [message] = ofCode(report, 'HOST_TOOL_MISSING').filter(
      ({ reading, text }) =>
        reading.operation === 'add' || reading.operation === 'del' || hostTools.test(text.slice(0, 8_192)),
    )
    if (message === undefined) return []
    return [{ cause: 'cni-plugin-missing', way: 'host-tool', for: [clue(told(message), 'proves')] }]
  },
}

const cannotRun: CauseRule = {
  name: 'plugin-binary-cannot-run',
  source:
    'execve(2): ENOEXEC for another architecture or half a file, EACCES for modes, noexec and policies; ld.so for a missing library',
  read: report => {
    const [message] = ofCode(report, 'CNI_BIN_EXEC')
    const [library] = saying(
      report,
      /cni\/[^\n]{0,200}(?:GLIBC_[\d.]+'? not found|error while loading shared libraries)|netplugin failed[^\n]{0,200}(?:GLIBC_|shared libraries)/i,
    )
    const spoken = message ?? library
    if (spoken === undefined) return []
    const text = spoken.text.slice(0, 8_192)
    if (/text file busy/i.test(text)) {
      const says = 'a plugin binary was being replaced while it was called'
      return [{ cause: 'cni-plugin-missing', way: 'replaced', for: [clue(says, 'supports')] }]
    }
    const sure = /exec format error|GLIBC_|shared libraries|fork\/exec \S{1,200}: no such file/i.test(text)
    const denied = /permission denied|operation not permitted/i.test(text)
    return [
      {
        cause: 'cni-plugin-missing',
        way: denied ? 'denied' : 'cannot-run',
        for: [clue(told(spoken), sure ? 'proves' : 'supports')],
        missing: ["`file` of the binary and the node's architecture, its mode, and denials in the audit log"],
      },
      ...(denied
        ? [{ cause: 'runtime-error' as const, for: [clue('the system refuses to run a plugin', 'hints')] }]
        : []),
    ]
  },
}

export const binaryRules: CauseRule[] = [binaryMissing, toolMissing, cannotRun]
