import { linesWith, quoted } from '../../report/ask.js'
import type { Report } from '../../report/report.js'
import type { CauseRule, Clue } from '../rule.js'

const reserved =
  /failed to reserve sandbox name|error reserving pod name|name \\*"?[^"\\]{1,400}\\*"? is reserved for|[Cc]ontainer name \\*"\/?k8s_POD_[^"\\]{1,400}\\*" is already in use|pod sandbox with name .{1,400} already exists|Creation of sandbox .{1,400} not yet finished/
const container =
  /failed to reserve container name|error reserving ctr name|[Cc]ontainer name \\*"\/?k8s_(?!POD_)/

const slow = (report: Report): Clue[] => {
  const [timeout] = linesWith(
    report,
    /(?:RunPodSandbox|create pod sandbox|CreatePodSandbox).{0,400}(?:DeadlineExceeded|context deadline exceeded|operation timeout)/i,
    'event',
    'journal',
  )
  const stage = linesWith(report, /not yet finished\. Currently at stage/, 'event', 'journal', 'agent-log')[0]
  return [
    ...(timeout
      ? [
          {
            says: `an earlier attempt was given up by the kubelet, not by the runtime: ${quoted(timeout.text)}`,
            weight: 'supports' as const,
          },
        ]
      : []),
    ...(stage
      ? [{ says: `the runtime says where it waits: ${quoted(stage.text)}`, weight: 'supports' as const }]
      : []),
  ]
}

/** The sandbox that has the name is dead but listed, or was made before the clock was set: no request is in flight. */
const deadHolder = (report: Report): Clue[] => {
  const asked = report.commands.filter(({ cmd }) =>
    /inspectp|crictl pods|docker (?:ps|inspect)/.test(cmd.slice(0, 2_000)),
  )
  const dead = asked.some(({ output }) =>
    output.some(line => /NOTREADY|NotReady|\bExited\b|\bDead\b/.test(line.slice(0, 1_000))),
  )
  const early = report.commands.some(({ output }) =>
    output.some(line => /\b19(?:69|70)-\d\d-\d\d/.test(line.slice(0, 1_000))),
  )
  return [
    ...(dead
      ? [{ says: 'a sandbox that is listed but dead has the name', weight: 'supports' as const }]
      : []),
    ...(early
      ? [
          {
            says: "the node's clock began in 1970: times of that boot are out of order",
            weight: 'supports' as const,
          },
        ]
      : []),
  ]
}

const nameReserved: CauseRule = {
  name: 'sandbox-name-reserved',
  source:
    'containerd#4604 and #12438, CRI-O "name is reserved", dockershim name conflicts: an earlier attempt is still in flight or left behind',
  read: report => {
    const [line] = linesWith(report, reserved, 'event', 'journal', 'agent-log')
    if (line === undefined) return []
    const own = report.lines.filter(
      ({ from, reading }) =>
        from !== 'command' && reading !== undefined && !beside.has(reading.kind) && reading.kind !== 'other',
    )
    const [inner] = own
    const waits = slow(report)
    const dead = deadHolder(report)
    return [
      {
        cause: 'sandbox-name-conflict',
        way: dead.length > 0 ? 'dead-holder' : /k8s_POD_/.test(line.text) ? 'docker' : 'in-flight',
        for: [
          {
            says: `the name of an earlier attempt is still taken: ${quoted(line.text, 220)}`,
            weight: inner || waits.length === 0 ? 'supports' : 'proves',
          },
          ...waits,
          ...dead,
        ],
        against: inner
          ? [
              {
                says: `another message tells why the earlier attempt hangs: ${quoted(inner.text)}`,
                weight: 'hints',
              },
            ]
          : [],
        missing: [
          'what the first attempt waits for: a dump of the runtime, disk latency, the CNI log of that minute',
        ],
      },
    ]
  },
}

/** These go along with a name that is taken and tell no reason of their own. */
const beside = new Set(['name-reserved', 'timeout', 'symptom-only'])

const containerName: CauseRule = {
  name: 'container-name-reserved',
  source: 'containerd#4604: the same reservation for a container of a sandbox that stands already',
  read: report => {
    const [line] = linesWith(report, container, 'event', 'journal', 'agent-log')
    if (line === undefined) return []
    return [
      {
        cause: 'sandbox-name-conflict',
        for: [
          {
            says: `a container's name is still taken by an earlier attempt: ${quoted(line.text, 220)}`,
            weight: 'supports',
          },
        ],
        missing: ['what the first attempt waits for: a dump of the runtime, disk latency'],
      },
      {
        cause: 'runtime-error',
        for: [
          { says: 'the runtime has not finished an earlier request for the same container', weight: 'hints' },
        ],
      },
    ]
  },
}

export const nameRules: CauseRule[] = [nameReserved, containerName]
