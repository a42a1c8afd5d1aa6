import { linesWith, messagesWith, quoted } from '../../../report/ask.js'
import { agentOf } from '../../../report/network-agents.js'
import { type Attempt, attemptsSeen } from '../../../report/net/attempts.js'
import { serviceRejects } from '../../../report/net/firewall.js'
import { type Listener, listenersSeen, onLoopback } from '../../../report/net/listeners.js'
import { endpointsSeen } from '../../../report/net/backends.js'
import type { Report } from '../../../report/report.js'
import { type CauseRule, clue } from '../../rule.js'
import { clueAt, clueOf, first, suspect, symptomSays } from './suspect.js'

/** Probes of these are about the node's network, not about an application. */
const ofAgents = (report: Report, text: string): boolean =>
  report.lines.some(
    line =>
      line.text === text &&
      (agentOf(line.object ?? '').length > 0 || /kube-proxy|calico|cilium/.test(line.object ?? '')),
  ) || /calico\/node is not ready|bird\.ctl|felix/i.test(text)

const podIps = (report: Report): Set<string> =>
  new Set([
    ...report.pods.flatMap(({ ip }) => ip ?? []),
    ...endpointsSeen(report).flatMap(({ addresses, notReady }) => [...addresses, ...notReady]),
  ])

/** Refused at a Pod's own address: by a probe, or by a try at an address that is known to be a Pod's. */
const refusedAtPod = (report: Report): Attempt[] => {
  const pods = podIps(report)
  const services = new Set(serviceRejects(report).flatMap(({ ip }) => ip ?? []))
  return attemptsSeen(report).filter(
    ({ outcome, ip, probe, text }) =>
      outcome === 'refused' &&
      ip !== undefined &&
      !services.has(ip) &&
      (probe || pods.has(ip)) &&
      !ofAgents(report, text),
  )
}

export const listeners = (report: Report): Listener[] =>
  listenersSeen(report).flatMap(({ listeners: all }) => all)

const loopbackOnly: CauseRule = {
  name: 'listens-on-loopback-only',
  source:
    'Kubernetes, Debug Services: "Is the application bound to the right address?"; kubernetes#62594, custom-scheduler-eks#8',
  read: report => {
    const all = listeners(report)
    const refused = refusedAtPod(report)
    const local = all.filter(
      each => onLoopback(each) && !all.some(other => other.port === each.port && !onLoopback(other)),
    )
    const asked = local.filter(({ port }) => refused.some(each => each.port === port))
    const inPod = local.filter(({ cmd }) =>
      listenersSeen(report).some(each => each.cmd === cmd && each.inPod),
    )
    return suspect('app-not-listening', 'loopback', [
      ...first(asked).map(each =>
        clueAt(each, 'the port that is refused is listened on at the loopback address alone', 'proves'),
      ),
      ...(asked.length === 0
        ? first(inPod.length > 0 ? inPod : []).map(each =>
            clueAt(each, 'a process in the Pod listens at the loopback address alone', 'supports'),
          )
        : []),
    ])
  },
}

const oneFamily: CauseRule = {
  name: 'listens-on-one-family-only',
  source: 'Dual-stack clusters: a probe goes to the first address of the Pod; 0.0.0.0 takes no IPv6',
  read: report => {
    const sixth = messagesWith(
      report,
      /probe failed.{0,200}\[[0-9a-f:]{3,45}\]:\d{1,5}.{0,200}connection refused/i,
    )
    const four = listeners(report).filter(
      ({ text }) => /\b0\.0\.0\.0:\d/.test(text) && !/\[::\]:\d{2}|:::\d{2}|\*:\d{2}/.test(text),
    )
    const same = four.filter(({ port }) => sixth.some(({ text }) => text.includes(`]:${port}`)))
    return suspect(
      'app-not-listening',
      'loopback',
      first(same).map(each =>
        clueAt(each, 'the port is listened on for IPv4 alone, and asked by IPv6', 'proves'),
      ),
    )
  },
}

const absentPort: CauseRule = {
  name: 'nothing-listens-on-the-port',
  source: 'Kubernetes, Debug Services: "Is the Pod listening on the targetPort?"',
  read: report => {
    const refused = refusedAtPod(report)
    const whole = listenersSeen(report).filter(seen => seen.inPod && seen.whole && seen.listeners.length > 0)
    const absent = whole.filter(seen =>
      refused.some(({ port }) => port !== undefined && !seen.listeners.some(each => each.port === port)),
    )
    const ports = whole.flatMap(seen => seen.listeners.map(({ port }) => port))
    const within = attemptsSeen(report).filter(
      ({ outcome, loopback, inPod }) => outcome === 'refused' && loopback && inPod,
    )
    const works = attemptsSeen(report).filter(
      each =>
        each.outcome === 'open' &&
        each.ip !== undefined &&
        refused.some(other => other.ip === each.ip && other.port !== each.port),
    )
    return suspect('app-not-listening', 'port', [
      ...(absent.length > 0
        ? [
            clue(
              `in the Pod the ports ${[...new Set(ports)].slice(0, 8).join(', ')} are listened on, not the one that is asked`,
              'proves',
            ),
          ]
        : []),
      ...first(within).map(each =>
        clueAt(each, 'not even the Pod itself reaches the port by its loopback address', 'proves'),
      ),
      ...first(works).map(each =>
        clue(`another port of the same Pod answers (${quoted(each.by, 100)})`, 'supports'),
      ),
    ])
  },
}

const refusedByPod: CauseRule = {
  name: 'pod-refuses-connections',
  source: 'A refusal comes from the Pod itself: the packets arrive, no process listens on address and port',
  read: report => {
    const refused = refusedAtPod(report)
    const [one] = refused
    const local = attemptsSeen(report).some(
      ({ outcome, loopback, inPod }) => outcome === 'open' && loopback && inPod,
    )
    const crashing = report.pods.some(({ status }) => /CrashLoop|Error|OOMKilled|Completed/.test(status))
    return suspect(
      'app-not-listening',
      local ? 'loopback' : undefined,
      [
        ...(one ? [clueAt(one, "the Pod's own address refuses the connection", 'supports')] : []),
        ...(one && local ? [clue('the same Pod answers at its loopback address', 'proves')] : []),
      ],
      {
        against: crashing
          ? [clue('a container ends again and again: while it is down nothing can listen', 'hints')]
          : [],
        missing: ['what listens inside the Pod (ss -ltn)', "the application's log of its start"],
      },
    )
  },
}

const bindLog: CauseRule = {
  name: 'application-says-where-it-listens',
  source:
    'Servers log their address at start: localhost there is unreachable from outside; a taken port is not listened on',
  read: report => {
    const refused = refusedAtPod(report)
    const local = linesWith(
      report,
      /\b(?:listening|started|serving|running|bound|binding)\b[^\n]{0,60}(?:127\.0\.0\.1|localhost|\[::1\]):?\d{0,5}/i,
    )
    const taken = linesWith(
      report,
      /(?:bind|listen)[^\n]{0,60}address already in use|EADDRINUSE|cannot assign requested address/i,
      'agent-log',
      'command',
    )
    return suspect('app-not-listening', 'loopback', [
      ...first(refused.length > 0 ? local : []).map(each =>
        clueAt(each, 'the application says that it listens at the loopback address', 'supports'),
      ),
      ...first(taken).map(each =>
        clueAt(each, 'the application could not take its port', refused.length > 0 ? 'supports' : 'hints'),
      ),
    ])
  },
}

const wrongTarget: CauseRule = {
  name: 'target-port-differs-from-container-port',
  source: 'Kubernetes, Debug Services: the targetPort has to be the one that the process listens on',
  read: report => {
    const text = report.commands
      .map(({ output }) => output.join('\n'))
      .join('\n')
      .slice(0, 60_000)
    const targets = [
      ...text.matchAll(/"?targetPort"?:\s{0,3}(\d{1,5})\b|TargetPort:\s{1,40}(\d{1,5})\//g),
    ].map(([, a, b]) => a ?? b)
    const containers = [
      ...text.matchAll(/"?containerPort"?:\s{0,3}(\d{1,5})\b|^\s{0,8}Port:\s{1,40}(\d{1,5})\//gm),
    ].map(([, a, b]) => a ?? b)
    const differ =
      targets.length > 0 && containers.length > 0 && !targets.some(each => containers.includes(each))
    const refused = attemptsSeen(report).some(({ outcome }) => outcome === 'refused')
    return suspect(
      'app-not-listening',
      'port',
      differ
        ? [
            clue(
              `the service sends to port ${targets[0]}, the container names ${containers[0]}`,
              refused ? 'supports' : 'hints',
            ),
          ]
        : [],
    )
  },
}

const byWord: CauseRule = {
  name: 'told-that-the-application-is-not-bound',
  source: 'What people say of a refused probe that works on localhost',
  read: report => {
    const told = symptomSays(
      report,
      /binds? to localhost|listen\w* (?:only )?on (?:127|localhost)|(?:curl|works?) (?:on |from )?localhost|bind address/i,
    )
    return suspect('app-not-listening', 'loopback', [
      ...(told ? [clue('the report says that the application answers at localhost', 'hints')] : []),
      ...(told
        ? clueOf(report, /probe failed.{0,300}connection refused/i, 'a probe is refused', 'hints', 'event')
        : []),
    ])
  },
}

export const listeningRules: CauseRule[] = [
  loopbackOnly,
  oneFamily,
  absentPort,
  refusedByPod,
  bindLog,
  wrongTarget,
  byWord,
]
