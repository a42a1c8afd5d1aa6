import { linesWith, messagesWith, quoted } from '../../../report/ask.js'
import { serviceRejects } from '../../../report/net/firewall.js'
import {
  type EndpointsSeen,
  endpointsOf,
  endpointsSeen,
  isEmpty,
  readLabels,
  servicesSeen,
} from '../../../report/net/backends.js'
import type { Report } from '../../../report/report.js'
import { readTable } from '../../../report/table.js'
import { type CauseRule, type Clue, clue } from '../../rule.js'
import { clueAt, first, suspect } from './suspect.js'

const shown = ({ name, cmd }: EndpointsSeen): string => (name === '' ? quoted(cmd, 80) : quoted(name, 80))

/** Of one service, what the API lists; a service with addresses anywhere is not empty. */
const emptyServices = (report: Report): EndpointsSeen[] =>
  endpointsSeen(report).filter(
    each => isEmpty(each) && !endpointsOf(report, each.name).some(other => !isEmpty(other)),
  )

const noBackend: CauseRule = {
  name: 'service-without-backends',
  source:
    'Kubernetes, Debug Services: "Does the Service have any EndpointSlices?"; kube-proxy rejects what has none',
  read: report => {
    const empty = emptyServices(report)
    const notReady = empty.find(each => each.notReady.length > 0)
    const rejects = serviceRejects(report).filter(
      ({ service, local }) => !local && !endpointsOf(report, service).some(each => !isEmpty(each)),
    )
    const both = empty.some(({ name }) => rejects.some(({ service }) => service.split('/').at(-1) === name))
    return suspect(
      'service-no-endpoints',
      notReady ? 'not-ready' : undefined,
      [
        ...first(empty).map(each =>
          clue(
            `the API lists no ready backend of the service (${shown(each)})`,
            rejects.length > 0 ? 'proves' : 'supports',
          ),
        ),
        ...first(rejects).map(each =>
          clueAt(
            each,
            'the node refuses the service for want of backends, as it should',
            both ? 'supports' : 'hints',
          ),
        ),
        ...(rejects.length > 0 && empty.length === 0
          ? [clue('kube-proxy says that the service has no backend', 'supports')]
          : []),
        ...(notReady ? [clue('Pods are selected, none of them is ready', 'supports')] : []),
      ],
      {
        missing: [
          ...(empty.length === 0 ? ["the service's endpoints as the API lists them"] : []),
          ...(servicesSeen(report).some(({ selector }) => selector)
            ? []
            : ["the service's selector and the Pods' labels"]),
        ],
      },
    )
  },
}

const flag = /(?:^|\s)(?:-l|--selector)(?:=|\s+)["']?([\w./=,-]{1,400})/

/** Pods that were listed with their labels, asked for by label, or printed with `--show-labels`. */
const labelled = (report: Report): { labels: Map<string, string>; found: boolean; cmd: string }[] =>
  report.commands.flatMap(({ cmd, output }) => {
    if (!/\bpods?\b|\bpo\b|\bdeploy/.test(cmd)) return []
    const [, asked] = flag.exec(cmd) ?? []
    const none = output.every(line => line.trim() === '' || line.startsWith('No resources found'))
    if (asked !== undefined) return [{ labels: readLabels(asked), found: !none, cmd }]
    const rows = readTable(output).flatMap(row => (row['LABELS'] ? [readLabels(row['LABELS'])] : []))
    const json =
      /labels/.test(cmd) && /jsonpath|jq|custom-columns/.test(cmd) ? [readLabels(output.join(','))] : []
    const described = output.flatMap(line => /^Labels:\s{1,40}(\S{1,400})/.exec(line)?.[1] ?? [])
    return [...rows, ...json, ...described.map(readLabels)]
      .filter(labels => labels.size > 0)
      .map(labels => ({ labels, found: true, cmd }))
  })

const matches = (selector: ReadonlyMap<string, string>, labels: ReadonlyMap<string, string>): boolean =>
  [...selector].every(([key, value]) => labels.get(key) === value)

const selectorDiffers: CauseRule = {
  name: 'selector-differs-from-labels',
  source: 'Kubernetes, Debug Services: "Is the Service correct?"; kubernetes#47711, kubernetes#7341',
  read: report => {
    const selectors = servicesSeen(report).flatMap(({ selector }) => (selector ? [selector] : []))
    const pods = labelled(report)
    return selectors.flatMap(selector => {
      const asked = pods.find(({ labels, found }) => !found && matches(labels, selector) && labels.size > 0)
      const found = pods.filter(pod => pod.found)
      const related = found.filter(({ labels }) =>
        [...selector].some(([key, value]) => labels.has(key) || [...labels.values()].includes(value)),
      )
      const other =
        related.length > 0 &&
        !found.some(({ labels }) => matches(selector, labels) || partly(selector, labels))
      const empty = emptyServices(report).length > 0 || serviceRejects(report).length > 0
      const text = [...selector].map(pair => pair.join('=')).join(',')
      return suspect('service-no-endpoints', 'selector', [
        ...(asked
          ? [
              clue(
                `no Pod has the labels that the service selects (${quoted(text)})`,
                empty ? 'proves' : 'supports',
              ),
            ]
          : []),
        ...(other
          ? [
              clue(
                `the service selects ${quoted(text)}, the Pods carry other labels`,
                empty ? 'proves' : 'supports',
              ),
            ]
          : []),
      ])
    })
  },
}

/** What was asked for by a few labels alone does not show the others. */
const partly = (selector: ReadonlyMap<string, string>, labels: ReadonlyMap<string, string>): boolean =>
  labels.size < selector.size && [...labels].every(([key, value]) => selector.get(key) === value)

const said =
  /no endpoints available for service|does not have any active endpoint|has no (?:active |available |ready )?endpoints\b(?!.{0,80}REJECT)|no (?:ready |healthy )?endpoints? (?:found )?(?:available )?for|no healthy upstream|service has no endpoints|endpoints "[^"]{1,253}" not found/i

const saysNone: CauseRule = {
  name: 'said-to-have-no-endpoints',
  source:
    'API server (webhooks and proxy), ingress controllers and meshes name a service without backends in these words',
  read: report => {
    const lines = messagesWith(report, said)
    const printed = linesWith(report, said, 'command').filter(({ text }) => !/KUBE-|REJECT|DROP/.test(text))
    return suspect(
      'service-no-endpoints',
      undefined,
      first([...lines, ...printed]).map(line =>
        clueAt(line, 'a program says that the service has no backend', 'supports'),
      ),
      { missing: ["the service's endpoints as the API lists them", 'whether its Pods are ready'] },
    )
  },
}

const namedPort: CauseRule = {
  name: 'target-port-name-missing',
  source:
    'Kubernetes, Service: a named targetPort is looked up among the ports of each Pod; none of that name, no endpoint',
  read: report => {
    const text = report.commands
      .map(({ output }) => output.join('\n'))
      .join('\n')
      .slice(0, 60_000)
    const [, target] = /"?targetPort"?:\s{0,3}"?([a-z][a-z0-9-]{0,14})\b/.exec(text) ?? []
    const ports = /containerPort/.test(text)
    const named = [...text.matchAll(/"?name"?:\s{0,3}"?([a-z][a-z0-9-]{0,14})\b/g)].map(([, name]) => name)
    const count = named.filter(name => name === target).length
    const misses = target !== undefined && ports && count === 0 && emptyServices(report).length > 0
    return suspect(
      'service-no-endpoints',
      'port-name',
      misses
        ? [clue(`no container names a port ${quoted(target)}, which the service sends to`, 'supports')]
        : [],
    )
  },
}

const localOnly: CauseRule = {
  name: 'no-backend-on-this-node',
  source:
    'Kubernetes, externalTrafficPolicy: Local: a node without a Pod of the service drops what reaches it',
  read: report => {
    const local: Clue[] = first(serviceRejects(report).filter(each => each.local)).map(each =>
      clueAt(each, 'the service takes backends of its own node alone, and this node has none', 'supports'),
    )
    return suspect('service-no-endpoints', 'local', local, {
      missing: ['on which nodes the Pods run', "whether kube-proxy's name of the node is the API's"],
    })
  },
}

const notReadyPods: CauseRule = {
  name: 'pods-of-the-service-not-ready',
  source: 'Kubernetes, EndpointSlices: only ready Pods are backends',
  read: report => {
    const running = report.pods.filter(({ status }) => status === 'Running')
    const unready = running.filter(({ ready }) => ready === 0)
    const all = unready.length > 0 && unready.length === running.length
    const probes = messagesWith(report, /readiness probe (?:failed|errored)/i)
    return suspect(
      'service-no-endpoints',
      'not-ready',
      all && emptyServices(report).length > 0
        ? [
            clue(`${unready.length} Pods run and none is ready, so none is a backend`, 'supports'),
            ...first(probes).map(line => clueAt(line, 'their readiness probe fails', 'proves')),
          ]
        : [],
    )
  },
}

export const serviceRules: CauseRule[] = [
  noBackend,
  selectorDiffers,
  saysNone,
  namedPort,
  localOnly,
  notReadyPods,
]
