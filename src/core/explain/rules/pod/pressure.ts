import { linesWith, quoted } from '../../../report/ask.js'
import { podRowsOf } from '../../../report/network-agents.js'
import type { Report } from '../../../report/report.js'
import { readTable } from '../../../report/table.js'
import { type CauseRule, clue } from '../../rule.js'
import { ofCode, ofKind, told } from '../plugin-clues.js'

const kinds = ['Disk', 'Memory', 'PID'] as const

const filesystems = (report: Report): Record<string, string>[] =>
  report.commands
    .filter(({ cmd }) => /\bdf\b/.test(cmd.slice(0, 2_000)))
    .flatMap(({ output }) => readTable(output.map(line => line.replace(/^Filesystem/, 'FILESYSTEM'))))

/** A root that has room beside disk pressure: the kubelet measures another filesystem than people look at. */
const rootHasRoom = (report: Report): boolean =>
  report.commands
    .filter(({ cmd }) => /\bdf\b/.test(cmd.slice(0, 2_000)))
    .flatMap(({ output }) => output)
    .some(line => Number(/\s(\d{1,3})%\s+\/\s*$/.exec(line.slice(0, 2_000))?.[1] ?? 100) < 70) ||
  filesystems(report).some(row => row['MOUNTED ON'] === '/' && Number.parseInt(row['USE%'] ?? '100', 10) < 70)

const wayOf = (report: Report, kind: string): string =>
  kind === 'disk' ? (rootHasRoom(report) ? 'other-filesystem' : 'disk') : kind

const condition: CauseRule = {
  name: 'pressure-condition',
  source:
    'Kubernetes, node-pressure eviction: conditions and the taints that the node controller sets for them',
  read: report =>
    kinds.flatMap(kind => {
      const set = report.node?.conditions.get(`${kind}Pressure`) === 'True'
      const taint = report.node?.taints.some(each =>
        each.startsWith(`node.kubernetes.io/${kind.toLowerCase()}-pressure`),
      )
      if (!set && taint !== true) return []
      return [
        {
          cause: 'node-pressure',
          way: wayOf(report, kind.toLowerCase()),
          for: [
            clue(
              set ? `${kind}Pressure is True on the node` : `the node is tainted for ${kind} pressure`,
              'proves',
            ),
          ],
        },
      ]
    }),
}

const resource = (text: string): string =>
  /memory/i.test(text) && !/storage|disk|inode|image/i.test(text)
    ? 'memory'
    : /\bpids?\b/i.test(text)
      ? 'pid'
      : 'disk'

const current =
  /garbage collect required amount|attempting to reclaim|must evict|condition: ?\[|freediskspacefailed|imagegcfailed|NodeHas(?:Disk|Memory|Insufficient)/i

const messages: CauseRule = {
  name: 'pressure-messages',
  source:
    'kubelet: eviction manager, Evicted and EvictionThresholdMet events, image collection that frees nothing',
  read: report =>
    ofCode(report, 'NODE_PRESSURE')
      .slice(0, 4)
      .map(message => ({
        cause: 'node-pressure',
        way: wayOf(report, resource(message.text.slice(0, 300))),
        for: [
          clue(
            told(message),
            current.test(message.text.slice(0, 8_192)) &&
              !/out of memory|oom/i.test(message.text.slice(0, 300))
              ? 'proves'
              : 'supports',
          ),
        ],
        missing: [
          'kubectl describe node, and df -h and df -i of every filesystem that the runtime and the kubelet use',
        ],
      })),
}

const evicted: CauseRule = {
  name: 'pods-evicted',
  source: 'kubelet: status Evicted',
  read: report => {
    const row = podRowsOf(report).find(({ status }) => status === 'Evicted')
    return row === undefined
      ? []
      : [
          {
            cause: 'node-pressure',
            for: [clue(`${quoted(row.name, 80)} was evicted`, 'supports')],
            missing: ['the status message of an evicted Pod: which resource was short'],
          },
        ]
  },
}

const inotify = /inotify|fsnotify|watch/i

const full: CauseRule = {
  name: 'disk-full',
  source: 'ENOSPC of a write; df at 98% and more. ENOSPC of an inotify watch is a limit, not a disk',
  read: report => {
    const [message] = ofKind(report, 'disk-full').filter(
      ({ text, reading }) => !inotify.test(text.slice(0, 8_192)) && reading.code === 'DISK_FULL',
    )
    const [row] = linesWith(report, /\s(?:9[89]|100)%\s+\/(?!snap|boot|mnt\/cdrom)/, 'command')
    return [
      ...(message === undefined ? [] : [clue(told(message), 'supports')]),
      ...(row === undefined
        ? []
        : [clue(`a filesystem is full: ${quoted(row.text, 100)}`, message ? 'supports' : 'hints')]),
    ].map(each => ({ cause: 'node-pressure', way: 'disk', for: [each] }))
  },
}

export const pressureRules: CauseRule[] = [condition, messages, evicted, full]
