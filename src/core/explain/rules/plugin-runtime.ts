import { quoted } from '../../report/ask.js'
import type { Report } from '../../report/report.js'
import { spokenIn } from '../../report/spoken.js'
import { type CauseRule, type Clue, clue } from '../rule.js'
import { ofCode, ofKind, runtimeSocket, saying, told } from './plugin-clues.js'

/** Kinds of trouble in and below the runtime, each with what only it says. */
const kinds: [way: string, weight: Clue['weight'], RegExp][] = [
  [
    'handler',
    'proves',
    /no runtime for \\{0,7}["'`]?[\w.-]{1,80}\\{0,7}["'`]? is configured|RuntimeHandler \\{0,7}["'`]?[\w.-]{1,80}\\{0,7}["'`]? not supported|failed to find runtime handler|runtime handler [^\n]{1,80} (?:not found|is not configured)|failed to get sandbox runtime/i,
  ],
  [
    'cgroup',
    'proves',
    /expected cgroupsPath to be of format|cgroup driver:? [^\n]{1,60}is different from|misconfiguration: kubelet cgroup driver|systemd cgroup flag passed, but systemd support|cgroup(?:s|fs)? (?:v\d )?driver mismatch/i,
  ],
  [
    'cgroup',
    'supports',
    /unable to apply cgroup|failed to (?:create|load|write) [^\n]{0,60}cgroup|cgroup mountpoint does not exist|cgroups?: cgroup deleted|\/sys\/fs\/cgroup\/[^\n]{0,300}(?:no space left|no such file|cannot allocate)|unable to start unit|cannot enter cgroupv2|bpf_prog_query|unable to ensure pod container exists|org\.freedesktop\.systemd1[^\n]{0,80}timed out|dbus: connection closed/i,
  ],
  [
    'security',
    'proves',
    /apparmor failed to (?:apply|load)|apparmor(?:_parser| profile)[^\n]{0,160}(?:not found|error|fail|denied|not loaded|not supported)|(?:error|unable)[^\n]{0,60}(?:seccomp|apparmor|selinux label|write label)|seccomp[^\n]{0,80}(?:not supported|invalid|error adding|unable)|failed to set (?:file|process) label/i,
  ],
  [
    'cri-version',
    'proves',
    /unknown service runtime\.v1|runtime API is not implemented|unable to determine runtime API version|validate service connection/i,
  ],
  [
    'shim',
    'supports',
    /failed to start shim|failed to create shim|shim (?:disconnected|reaped|exited)|ttrpc: closed|containerd-shim[^\n]{0,120}(?:no such file|permission denied|not found)|exec: \\{0,7}"?(?:runc|crun|conmon|containerd-shim\S{0,20})\\{0,7}"?: executable file not found|can't get final child's PID|runc did not terminate|conmon failed|namespace [^\n]{1,60}is not supported/i,
  ],
]

const faulty: CauseRule = {
  name: 'runtime-reports-fault',
  source:
    'runc, crun, containerd, CRI-O, docker and the kubelet: handlers, control groups, profiles and shims',
  read: report =>
    spokenIn(report)
      .flatMap(spoken => {
        const { kind } = spoken.reading
        if (kind === 'disk-full') return []
        const text = spoken.text.slice(0, 8_192)
        const found = kinds.find(
          ([way, , pattern]) => (kind !== 'container' || way === 'security') && pattern.test(text),
        )
        return found === undefined
          ? []
          : [
              {
                cause: 'runtime-error' as const,
                way: found[0],
                for: [clue(`the runtime says ${quoted(found[2].exec(text)?.[0] ?? '', 120)}`, found[1])],
              },
            ]
      })
      .slice(0, 3),
}

const classified: CauseRule = {
  name: 'sandbox-not-started',
  source: 'OCI runtime: what fails while a sandbox is made, after or before its network',
  read: report => {
    const [message] = ofCode(report, 'OCI_RUNTIME', 'CGROUP_FAIL')
    if (message === undefined) return []
    const sandbox = /sandbox|RunPodSandbox|pause|containerd task/i.test(
      `${message.source} ${message.text.slice(0, 2_000)}`,
    )
    return [
      {
        cause: 'runtime-error',
        for: [clue(told(message), sandbox ? 'supports' : 'hints')],
        missing: ["the runtime's own journal around the first failure"],
      },
    ]
  },
}

const down: CauseRule = {
  name: 'runtime-does-not-answer',
  source: "CRI: the kubelet's connection to the runtime's socket",
  read: report => {
    const [message] = spokenIn(report).filter(
      ({ reading }) =>
        reading.kind === 'runtime-down' ||
        (reading.kind === 'agent-down' && runtimeSocket.test(reading.plain.slice(0, 8_192))),
    )
    if (message === undefined) return []
    return [
      {
        cause: 'runtime-error',
        way: 'down',
        for: [clue(`the runtime's socket does not answer: ${quoted(message.text)}`, 'supports')],
        missing: ["whether the runtime's unit runs, and the end of its journal"],
      },
    ]
  },
}

const unit = /(?:docker|containerd|crio|cri-o|cri-dockerd)(?:\.service)?\b/i
const ended =
  /Main process exited, code=|Failed with result|Failed to start |start request repeated too quickly|entered failed state|Active: (?:failed|inactive|activating)|status=203\/EXEC|Failed at step EXEC|\bpanic: |fatal error: |segfault|level=fatal|SIGSEGV|core-?dump/i

const unitFails: CauseRule = {
  name: 'runtime-unit-fails',
  source: 'systemd and Go: the runtime process ended, or could not be started at all',
  read: report => {
    const spoken = spokenIn(report).find(({ text, source, from }) => {
      const line = text.slice(0, 4_000)
      return (
        from !== 'agent-log' &&
        from !== 'event' &&
        ended.test(line) &&
        unit.test(`${source.slice(0, 400)} ${line}`) &&
        !/kubelet\.service/.test(line) &&
        !/libpod|docker-[0-9a-f]{12,64}\.scope/.test(line)
      )
    })
    if (spoken === undefined) return []
    return [
      {
        cause: 'runtime-error',
        way: 'down',
        for: [clue(`the runtime does not stay up: ${quoted(spoken.text)}`, 'proves')],
      },
    ]
  },
}

/** Numbers on lines of their own where a command printed a limit and how much of it is used. */
const nearLimit = (report: Report): [used: number, limit: number] | undefined => {
  for (const { cmd, output } of report.commands) {
    const text = cmd.slice(0, 400)
    if (!/pid_max|threads-max|pids\.(?:max|current)|file-nr|TasksMax|TasksCurrent/.test(text)) continue
    const numbers = output
      .slice(0, 10)
      .flatMap(line => [...line.slice(0, 200).matchAll(/\b\d{2,9}\b/g)].map(match => Number(match[0])))
    const most = Math.max(0, ...numbers)
    const used = numbers.filter(each => each !== most && each >= most * 0.9)
    if (numbers.length >= 2 && (used[0] !== undefined || numbers.filter(each => each === most).length > 1))
      return [used[0] ?? most, most]
  }
  return undefined
}

const limits: CauseRule = {
  name: 'process-limit-reached',
  source:
    "fork(2), pthread_create(3): EAGAIN at kernel.pid_max, threads-max, a cgroup's pids.max; PIDPressure watches the node only",
  read: report => {
    const [message] = ofCode(report, 'PROCESS_LIMIT')
    const near = nearLimit(report)
    if (message === undefined && near === undefined) return []
    const clues = [
      ...(message === undefined ? [] : [clue(told(message), 'supports')]),
      ...(near === undefined
        ? []
        : [clue(`${near[0]} of ${near[1]} are used`, message === undefined ? 'hints' : 'supports')]),
    ]
    const crash = ofCode(report, 'PLUGIN_CRASH')
    if (crash.length > 0)
      clues.push(clue('plugins end without a word, as a process does that cannot start another', 'hints'))
    return [
      {
        cause: 'runtime-error',
        way: 'limits',
        for: clues,
        missing: ['which program has how many threads', 'pid_max, threads-max and pids.max of the slices'],
      },
    ]
  },
}

const silent: CauseRule = {
  name: 'plugin-ends-without-word',
  source:
    'libcni: "netplugin failed but error parsing its diagnostic message" where a plugin was killed or crashed',
  read: report => {
    const [message] = ofCode(report, 'PLUGIN_CRASH')
    return message === undefined || message.reading.operation === 'del'
      ? []
      : [
          {
            cause: 'runtime-error',
            for: [clue(told(message), 'hints')],
            missing: ["the kernel's log: killed or crashed processes"],
          },
        ]
  },
}

const hangs =
  /blocked for more than \d+ seconds|soft lockup|hung_task|task (?:runc|containerd|dockerd)[^\n]{0,40} blocked|rcu_sched (?:self-)?detected stall/i

const slow: CauseRule = {
  name: 'runtime-too-slow',
  source:
    "the kubelet's deadline for a call of the runtime (two or four minutes); what took so long is not told",
  read: report => {
    const timeouts = ofKind(report, 'timeout').filter(
      ({ reading }) => reading.operation !== 'del' && reading.causes.includes('runtime-error'),
    )
    const [hung] = saying(report, hangs)
    const [message] = timeouts
    if (message === undefined && hung === undefined) return []
    const clues = [
      ...(message === undefined ? [] : [clue(told(message), 'hints')]),
      ...(hung === undefined ? [] : [clue(`processes hang in the kernel: ${quoted(hung.text)}`, 'supports')]),
    ]
    return [
      {
        cause: 'runtime-error',
        way: 'slow',
        for: clues,
        missing: ["the runtime's journal: which step took the time", 'load and disk latency of the node'],
      },
    ]
  },
}

const denials =
  /avc: {1,2}denied[^\n]{0,300}(?:comm|exe|path)="[^"\n]{0,100}(?:runc|crun|conmon|containerd|dockerd|cni|calico|flannel|cilium|host-local|bridge)|apparmor="DENIED"[^\n]{0,300}(?:runc|crun|conmon|containerd|dockerd|cni|docker-default)/i

const denied: CauseRule = {
  name: 'security-policy-denies',
  source: 'audit log: SELinux "avc: denied", AppArmor "DENIED" for the runtime or a plugin',
  read: report => {
    const line = report.lines.find(({ text }) => denials.test(text.slice(0, 2_000)))
    return line === undefined
      ? []
      : [
          {
            cause: 'runtime-error',
            way: 'security',
            for: [clue(`the system denies it: ${quoted(line.text)}`, 'supports')],
          },
        ]
  },
}

export const runtimeRules: CauseRule[] = [faulty, classified, down, unitFails, limits, silent, slow, denied]
