import { quoted } from '../../../report/ask.js'
import { attemptsSeen } from '../../../report/net/attempts.js'
import { ipsIn } from '../../../report/net/cidr.js'
import {
  type Backend,
  natBackends,
  serviceJumps,
  serviceRejects,
  virtualServers,
} from '../../../report/net/firewall.js'
import { endpointsOf, endpointsSeen, isEmpty, servicesSeen } from '../../../report/net/backends.js'
import type { Report } from '../../../report/report.js'
import { type CauseRule, clue } from '../../rule.js'
import { clueAt, first, suspect } from './suspect.js'

/** What the API lists for a service, all its slices together; undefined where nobody asked. */
const listed = (report: Report, service: string): { ips: Set<string>; cut: boolean } | undefined => {
  const all = endpointsOf(report, service).filter(each => each.name !== '' || service !== '')
  if (all.length === 0) return undefined
  return { ips: new Set(all.flatMap(({ addresses }) => addresses)), cut: all.some(({ cut }) => cut) }
}

const rejectsLiving: CauseRule = {
  name: 'rejects-a-service-with-endpoints',
  source:
    "kubernetes#61005, calico#2024: kube-proxy's rule says no endpoints, the API lists some; compare with another node",
  read: report => {
    const rejects = serviceRejects(report).filter(({ local }) => !local)
    const wrong = rejects.filter(({ service }) => (listed(report, service)?.ips.size ?? 0) > 0)
    const elsewhere = rejects.filter(({ service, by }) =>
      serviceJumps(report).some(jump => jump.by !== by && jump.service === service),
    )
    const out = wrong.length > 0 || elsewhere.length > 0
    return [
      ...suspect('dataplane-stale', 'proxy', [
        ...first(wrong).map(each =>
          clueAt(each, 'the API lists ready backends, the rules of the node refuse the service', 'proves'),
        ),
        ...first(elsewhere).map(each =>
          clueAt(each, 'another look at the rules sends the same service to a backend', 'supports'),
        ),
      ]),
      ...(out
        ? [
            {
              cause: 'service-no-endpoints' as const,
              for: [],
              against: [clue('the service has backends', wrong.length > 0 ? 'proves' : 'supports')],
            },
            {
              cause: 'app-not-listening' as const,
              for: [],
              against: [clue("the node's own rule refuses, not the application", 'supports' as const)],
            },
          ]
        : []),
    ]
  },
}

/** Backends in the node's rules, under the name of the service: IPVS tells its address alone. */
const programmed = (
  report: Report,
): { service: string; backends: Backend[]; by: string; virtual: boolean }[] => {
  const servers = virtualServers(report).flatMap(({ ip, port, real, by }) => {
    const name = servicesSeen(report).find(({ clusterIp }) => clusterIp === ip)?.name
    const byPort = endpointsSeen(report).filter(({ ports }) =>
      real.some(each => ports.includes(each.port ?? -1)),
    )
    const service = name ?? (byPort.length === 1 ? byPort[0]?.name : undefined) ?? onlyName(report)
    return service === undefined
      ? []
      : [{ service, backends: real, by: `${by} ${ip}:${port}`, virtual: true }]
  })
  const named = natBackends(report).map(each => ({
    ...each,
    service: each.service || (onlyName(report) ?? ''),
  }))
  const nat = [...new Set(named.map(({ service, by }) => `${service} ${by}`))].map(key => {
    const backends = named.filter(({ service, by }) => `${service} ${by}` === key)
    const [one] = backends
    return { service: one?.service ?? '', backends, by: one?.by ?? '', virtual: false }
  })
  return [...servers, ...nat].filter(({ service }) => service !== '')
}

/** The name of the one service whose endpoints were looked at. */
const onlyName = (report: Report): string | undefined => {
  const names = new Set(endpointsSeen(report).map(({ name }) => name))
  return names.size === 1 ? [...names][0] : undefined
}

const backendsDiffer: CauseRule = {
  name: 'programmed-backends-differ',
  source:
    'kubernetes#51445, #67875, #70493, #91812: DNAT or IPVS entries of a node name other backends than the API',
  read: report =>
    programmed(report).flatMap(({ service, backends, virtual }) => {
      const api = listed(report, service)
      if (api === undefined || api.ips.size === 0) return []
      const live = backends.filter(({ weight }) => weight !== 0)
      const gone = live.filter(({ ip }) => !api.ips.has(ip))
      const none = live.length > 0 && gone.length === live.length
      const holds = gone.length > 0 && !api.cut
      return suspect('dataplane-stale', virtual ? 'ipvs' : 'proxy', [
        ...(holds
          ? first(gone).map(each =>
              clueAt(each, 'the node sends to a backend that the API no longer lists', 'proves'),
            )
          : []),
        ...(!holds && none
          ? first(gone).map(each =>
              clueAt(each, 'none of the backends that the API shows is among those of the node', 'supports'),
            )
          : []),
        ...(virtual && backends.length === 0
          ? [clue(`the node has no backend of ${quoted(service)}, the API lists ${api.ips.size}`, 'proves')]
          : []),
        ...(!api.cut &&
        !holds &&
        live.length > 0 &&
        [...api.ips].some(ip => !live.some(each => each.ip === ip))
          ? [clue(`the node lacks backends of ${quoted(service)} that the API lists`, 'supports')]
          : []),
      ])
    }),
}

const draining: CauseRule = {
  name: 'ipvs-drained-backend-in-use',
  source: 'kubernetes#76664, #81775: a real server of weight 0 keeps old connections, UDP without end',
  read: report => {
    const old = virtualServers(report).flatMap(({ real }) =>
      real.filter(({ weight, text }) => weight === 0 && !/\b0\s{1,40}0\s*$/.test(text)),
    )
    return suspect(
      'dataplane-stale',
      'conntrack',
      first(old).map(each => clueAt(each, 'a backend that is being removed still gets packets', 'supports')),
    )
  },
}

const conntrack: CauseRule = {
  name: 'stale-conntrack-entry',
  source: 'kubernetes#19029, #66651, #125467: UDP flows keep the old backend until their entry ends',
  read: report => {
    const api = new Set(endpointsSeen(report).flatMap(({ addresses }) => addresses))
    const known = new Set([
      ...api,
      ...report.pods.flatMap(({ ip }) => ip ?? []),
      ...natBackends(report).map(({ ip }) => ip),
      ...report.commands
        .filter(({ cmd }) => /\bget\b.{0,60}\bpo(?:ds?)?\b/.test(cmd))
        .flatMap(({ output }) => ipsIn(output.join('\n'))),
    ])
    const sure = api.size > 0 || natBackends(report).length > 0
    const entries = report.lines.filter(
      ({ from, text }) =>
        from === 'command' &&
        /^\s*(?:ipv4\s+\d\s+)?udp\s.{0,200}\bsrc=.{0,200}\bdst=/.test(text.slice(0, 1_000)),
    )
    const old = entries.filter(({ text }) => {
      const [, to] = /dst=([\d.]{7,15})/.exec(text) ?? []
      const back = [...text.slice(0, 1_000).matchAll(/src=([\d.]{7,15})/g)][1]?.[1]
      return to !== undefined && back !== undefined && back !== to && known.size > 0 && !known.has(back)
    })
    const silent = old.filter(({ text }) => text.includes('[UNREPLIED]'))
    return suspect('dataplane-stale', 'conntrack', [
      ...first(old).map(each =>
        clueAt(
          each,
          'a tracked flow still goes to an address that is no backend any more',
          sure ? 'proves' : 'supports',
        ),
      ),
      ...first(silent).map(() => clue('nothing answers it', 'supports')),
    ])
  },
}

const worksByPod: CauseRule = {
  name: 'pod-address-answers-service-does-not',
  source:
    'Kubernetes, Debug Services: if the Pods answer by their own addresses and the service does not, look at kube-proxy',
  read: report => {
    const services = new Set([
      ...servicesSeen(report).flatMap(({ clusterIp }) => clusterIp ?? []),
      ...virtualServers(report).map(({ ip }) => ip),
      ...serviceRejects(report).flatMap(({ ip }) => ip ?? []),
    ])
    const tried = attemptsSeen(report)
    const backends = new Set([
      ...endpointsSeen(report).flatMap(({ addresses }) => addresses),
      ...report.pods.flatMap(({ ip }) => ip ?? []),
    ])
    const answered = tried.some(
      ({ outcome, ip }) => outcome === 'open' && ip !== undefined && backends.has(ip),
    )
    const bad = tried.filter(
      ({ outcome, ip }) => outcome !== 'open' && ip !== undefined && services.has(ip) && !backends.has(ip),
    )
    const full = endpointsSeen(report).some(each => !isEmpty(each))
    return suspect(
      'dataplane-stale',
      'proxy',
      answered && (full || bad.some(({ outcome }) => outcome === 'timeout'))
        ? first(bad).map(each =>
            clueAt(each, "the Pod's own address answers, its service does not", 'supports'),
          )
        : [],
      {
        missing: [
          "the node's rules for the service beside those of a node where it works",
          "kube-proxy's log",
        ],
      },
    )
  },
}

export const staleServiceRules: CauseRule[] = [rejectsLiving, backendsDiffer, draining, conntrack, worksByPod]
