import { once } from '../once.js'
import type { CommandSeen, Report } from '../report.js'
import { readTable } from '../table.js'
import { ipsIn } from './cidr.js'

/** What the API says stands behind a service. */
export interface EndpointsSeen {
  /** Without namespace; '' where the output does not name it. */
  name: string
  addresses: string[]
  ports: number[]
  notReady: string[]
  /** kubectl left some out ("+ 2 more..."). */
  cut: boolean
  cmd: string
}

export interface ServiceSeen {
  name: string
  clusterIp: string | undefined
  selector: ReadonlyMap<string, string> | undefined
  cmd: string
}

const bareName = (name: string): string => name.split('/').at(-1) ?? name

/** The object's name behind `get KIND`, flags and their values left out. */
const namedIn = (cmd: string, kind: RegExp): string => {
  const words = cmd.split(/\s+/).map(word => word.replaceAll(/['"`]/g, ''))
  const at = words.findIndex(word => kind.test(word))
  if (at === -1) return ''
  const slash = /^[\w.]+\/([\w.-]+)$/.exec(words[at] ?? '')?.[1]
  if (slash !== undefined) return slash
  const next = words
    .slice(at + 1)
    .find((word, n, rest) => !word.startsWith('-') && !/^-[no]$|^--n/.test(rest[n - 1] ?? ''))
  return next === undefined || /^[|>#(]/.test(next) ? '' : next
}

const endpointKind = /^(?:endpoints?|ep|endpointslices?(?:\.discovery\.k8s\.io)?)(?:,\S*|\/\S+)?$/
const none = /^(?:<none>|<unset>|)$/

const portsIn = (text: string): number[] =>
  [...text.slice(0, 4_096).matchAll(/\d\]?:(\d{1,5})\b/g)].map(([, port]) => Number(port))

const fromText = (name: string, text: string, cmd: string): EndpointsSeen => ({
  name: bareName(name),
  addresses: ipsIn(text),
  ports: portsIn(text),
  notReady: [],
  cut: /\+ ?\d+ more/.test(text),
  cmd,
})

const fromRows = ({ cmd, output }: CommandSeen): EndpointsSeen[] => {
  const table = readTable(output)
  if (table.length > 0 && table[0]?.['ENDPOINTS'] !== undefined)
    return table.flatMap(row => (row['NAME'] ? [fromText(row['NAME'], row['ENDPOINTS'] ?? '', cmd)] : []))
  return output.slice(0, 500).flatMap(line => {
    const cells = line.trim().split(/\s{2,}|\t/)
    const at = cells.findIndex(cell => /^(?:\d{1,3}(?:\.\d{1,3}){3}\b|<none>$|<unset>$)/.test(cell))
    const name = cells[Math.max(0, at === -1 ? 0 : at - 1)] ?? ''
    const age = /^\d+[smhdy]/.test(cells.at(-1) ?? '')
    if (at < 1 && !(at === -1 && age && cells.length === 2)) return []
    return [
      fromText(
        cells.length > 3 && at > 1 ? (cells[0] ?? name) : name,
        at === -1 ? '' : (cells[at] ?? ''),
        cmd,
      ),
    ]
  })
}

/** YAML or JSON of Endpoints or EndpointSlices, whole or a piece. */
const fromObject = ({ cmd, output }: CommandSeen): EndpointsSeen[] => {
  const text = output.join('\n').slice(0, 60_000)
  const empty = /"?(?:subsets|endpoints)"?:\s{0,4}(?:\[\s{0,40}\]|null|<none>)/.test(text)
  const lists = /"?(?:addresses|notReadyAddresses|subsets)"?:/.test(text)
  const name = namedIn(cmd, endpointKind)
  if (
    !lists &&
    /"?ready"?:\s{0,3}false/.test(text) &&
    !/"?ready"?:\s{0,3}true/.test(text) &&
    ipsIn(text).length === 0
  )
    return [{ ...fromText(name, '', cmd), notReady: ['?'] }]
  if (!empty && !lists) {
    const bare = /jsonpath|go-template|custom-columns/.test(cmd)
    if (!bare) return []
    const said = text.replaceAll(/[[\]{}"',\s]/g, '')
    return said === '' || ipsIn(text).length > 0 ? [fromText(name, text, cmd)] : []
  }
  const [ready = '', ...rest] = text.split(/"?notReadyAddresses"?:/)
  const unready = /ready"?:\s{0,3}false/.test(text) ? ipsIn(text) : []
  const all = ipsIn(
    `${ready} ${rest
      .map(part =>
        part
          .split(/"?addresses"?:/)
          .slice(1)
          .join(' '),
      )
      .join(' ')}`,
  )
  const notReady = [...ipsIn(rest.map(part => part.split(/"?addresses"?:/)[0]).join(' ')), ...unready]
  const ports = [...text.matchAll(/"?port"?:\s{0,3}(\d{1,5})\b/g)].map(([, port]) => Number(port))
  const addresses = all.filter(ip => !notReady.includes(ip))
  return [{ name, addresses, ports, notReady, cut: false, cmd }]
}

/** `kubectl describe service`: one or more blocks. */
const fromDescribe = ({ cmd, output }: CommandSeen): EndpointsSeen[] => {
  const named = output.find(line => /^Name:\s/.test(line))?.split(/\s+/)[1]
  return output.slice(0, 500).flatMap(line => {
    const [, what] = /^\s{0,8}(?:Sub)?Endpoints:\s{0,40}(\S.{0,2000})?$/.exec(line) ?? []
    if (!/^\s{0,8}Endpoints:/.test(line)) return []
    return [
      fromText(named ?? namedIn(cmd, /^(?:svc|services?)$/), none.test(what ?? '') ? '' : (what ?? ''), cmd),
    ]
  })
}

const noResources = /^No resources found|(?:endpoints|endpointslices)\S{0,40} "[^"]{1,253}" not found/

export const endpointsSeen = once((report: Report): EndpointsSeen[] =>
  report.commands.flatMap(command => {
    const cmd = command.cmd.slice(0, 2_000)
    if (/\bdescribe\b/.test(cmd)) return fromDescribe(command)
    if (!cmd.split(/\s+/).some(word => endpointKind.test(word.replaceAll(/['"`]/g, ''))))
      return fromDescribe(command)
    if (command.output.some(line => noResources.test(line)))
      return [fromText(namedIn(cmd, endpointKind), '', cmd)]
    const objects = fromObject(command)
    return objects.length > 0 ? objects : fromRows(command)
  }),
)

export const isEmpty = ({ addresses, cut }: EndpointsSeen): boolean => addresses.length === 0 && !cut

/** Endpoints and EndpointSlices (`NAME-abc12`) of a service. */
export const endpointsOf = (report: Report, service: string): EndpointsSeen[] => {
  const name = bareName(service)
  return endpointsSeen(report).filter(
    each =>
      each.name === '' || each.name === name || (each.name.startsWith(`${name}-`) && /slice/.test(each.cmd)),
  )
}

/** `app=web,tier=front`, `{"app":"web"}`, `map[app:web]`. */
export const readLabels = (text: string): Map<string, string> => {
  const bare = text.slice(0, 4_096).replaceAll(/["'{}[\]\s]|^map/g, '')
  return new Map(
    bare.split(',').flatMap(pair => {
      const [, key, value] = /^([\w./-]{1,253})[=:]{1,2}([\w.-]{0,63})$/.exec(pair) ?? []
      return key === undefined ? [] : [[key, value ?? ''] as const]
    }),
  )
}

const selectorIn = ({ cmd, output }: CommandSeen): ReadonlyMap<string, string> | undefined => {
  if (/selector/.test(cmd) && /jsonpath|go-template|\bjq\b/.test(cmd)) {
    const labels = readLabels(output.join(','))
    return labels.size > 0 ? labels : undefined
  }
  const [, described] =
    /^\s{0,8}Selector:\s{1,40}(\S.{0,1000})$/m.exec(output.join('\n').slice(0, 60_000)) ?? []
  if (described !== undefined) return described.startsWith('<') ? undefined : readLabels(described)
  const at = output.findIndex(line => /^\s{0,12}"?selector"?:\s{0,4}\{?\s*$/.test(line))
  if (at === -1) return undefined
  const depth = /^\s*/.exec(output[at] ?? '')?.[0].length ?? 0
  const block = output.slice(at + 1).map(line => line.slice(0, 400))
  const end = block.findIndex(line => (/^\s*/.exec(line)?.[0].length ?? 0) <= depth || /^\s*\}/.test(line))
  const labels = readLabels(
    block
      .slice(0, end === -1 ? 20 : end)
      .map(line => line.replace(/,\s*$/, '').replace(/:\s+/, ':'))
      .join(','),
  )
  return labels.size > 0 ? labels : undefined
}

const serviceKind = /^(?:svc|services?)(?:\/\S+|,\S*)?$/

export const servicesSeen = once((report: Report): ServiceSeen[] =>
  report.commands.flatMap(command => {
    const { cmd, output } = command
    if (!cmd.split(/\s+/).some(word => serviceKind.test(word.replaceAll(/['"`]/g, '')))) return []
    const table = readTable(output)
    if (table.length > 0 && table[0]?.['CLUSTER-IP'] !== undefined)
      return table.map(row => ({
        name: bareName(row['NAME'] ?? ''),
        clusterIp: ipsIn(row['CLUSTER-IP'] ?? '')[0],
        selector: row['SELECTOR'] && row['SELECTOR'] !== '<none>' ? readLabels(row.SELECTOR) : undefined,
        cmd,
      }))
    const name = output.find(line => /^Name:\s/.test(line))?.split(/\s+/)[1] ?? namedIn(cmd, serviceKind)
    const [, clusterIp] =
      /(?:^IP:|clusterIP"?:)\s{0,40}"?([\d.]{7,15})/m.exec(output.join('\n').slice(0, 60_000)) ?? []
    return [{ name, clusterIp, selector: selectorIn(command), cmd }]
  }),
)
