/** What a message names. All of it is text from the cluster: quote and cut it before it is shown. */
export interface MessageParts {
  /**
   * The plugin that failed: the one that is missing or cannot be run, else the last that libcni or a delegating plugin
   * called before the words that decided; not the address manager behind it.
   */
  plugin: string | undefined
  /** Outermost first, as far as the text names them: multus, flannel, bridge, host-local. */
  delegates: string[]
  /** Index of the range set: 1 is mostly the second address family. */
  rangeIndex: number | undefined
  /** As printed: `10.244.7.1-10.244.7.254`. Start to end, the gateway counted though it is never handed out. */
  ranges: string[]
  /** The network's name in the configuration; the innermost where plugins call each other. */
  network: string | undefined
  /** Of the file, socket, folder or binary that was missing, full or refused. */
  path: string | undefined
  port: number | undefined
  pod: string | undefined
  namespace: string | undefined
  sandboxId: string | undefined
  /** Those that were not mounted. */
  volumes: string[]
  /** The Secret, ConfigMap or volume that is named. */
  object: string | undefined
  image: string | undefined
}

const name = String.raw`[\w.-]{1,253}`
const quote = '["\'`]'

/** The first group that took part in the first of the patterns that matches. */
const firstOf = (text: string, ...patterns: RegExp[]): string | undefined => {
  for (const pattern of patterns) {
    const groups = pattern.exec(text)?.slice(1)
    const found = groups?.find(group => group !== undefined && group !== '')
    if (found !== undefined) return found
  }
  return undefined
}

const lastOf = (text: string, pattern: RegExp): string | undefined =>
  [...text.matchAll(pattern)].map(match => match.slice(1).find(group => group !== undefined)).at(-1)

const called = new RegExp(
  `plugin type=${quote}(${name})${quote}|invoking delegate(?:add|del|check) - ${quote}(${name})${quote}|from network (${name})/${name}:`,
  'gi',
)
const missing = new RegExp(`failed to find plugin ${quote}(${name})${quote}`, 'i')
const executed = /fork\/exec (?:\/[\w.-]{1,80}){0,20}\/([\w.-]{1,80}):/i

/** Plugins that name themselves by their words alone; the address managers come last, as they are called last. */
const byWords: [pattern: RegExp, plugin: string, first: boolean][] = [
  [
    /\bmultus\b|\[[\w.-]{1,253}\/[\w./-]{1,300}:[\w.-]{1,253}\]: error (?:adding|deleting) container/i,
    'multus',
    true,
  ],
  [/loadflannelsubnetenv|\/flannel\/subnet\.env/i, 'flannel', false],
  [/failed to allocate for range|no ip addresses available in/i, 'host-local', false],
  [/error at storage engine|error deallocating ip/i, 'whereabouts', false],
]

const delegatesIn = (text: string): string[] => {
  const named = [...text.matchAll(called)].map(match => match[1] ?? match[2] ?? match[3] ?? '')
  const inner = [missing.exec(text)?.[1], executed.exec(text)?.[1]].filter(each => each !== undefined)
  const list = [...named.slice(0, 20), ...inner]
  for (const [pattern, plugin, first] of byWords)
    if (pattern.test(text) && !list.some(each => each.startsWith(plugin)))
      if (first) list.unshift(plugin)
      else list.push(plugin)
  return [...new Set(list)]
}

const range = '[0-9a-f.:]{2,39}-[0-9a-f.:]{2,39}'
const rangeList = new RegExp(`range set:? ?(${range}(?:, ?${range}){0,63})`, 'i')

const rangesIn = (text: string): string[] =>
  (rangeList.exec(text)?.[1] ?? '')
    .split(',')
    .map(each => each.trim().replace(/[.:]{1,2}$/, ''))
    .filter(each => each !== '')

const numberOf = (text: string | undefined, most: number): number | undefined => {
  const value = Number(text)
  return text !== undefined && value <= most ? value : undefined
}

const pathIn = (text: string): string | undefined =>
  firstOf(
    text,
    /fork\/exec (\/[^\s:"']{1,300})/i,
    /in path \[(\/[^\s\]"']{1,300})/i,
    /readinessindicatorfile @ (\/[^\s"']{1,300}?)\.? /i,
    /\b(?:open|write|stat|lstat|mkdir|read|unlink|remove|rename) (\/[^\s:"']{1,300})/i,
    /\bstatfs ["'](\/[^"'\s]{1,300})["']/i,
    /\bunix (?:@->)?(\/[^\s:"']{1,300})/i,
    /(?:found|file) in (\/[^\s:"']{1,300}?)[.]?(?:[\s:"']|$)/i,
    /running \[(\/[^\s\]]{1,300})/i,
  )

/** Old lines give a Pod's uid where others give its name or namespace. */
const uid = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/

const dns = '[a-z0-9](?:[a-z0-9.-]{0,251})'
/** `name_namespace`, with the uid in brackets or without: the way of kubelet, dockershim and CRI-O. */
const podThenSpace = new RegExp(
  `(?:\\bk8s_(?:POD_)?|pod:? ${quote}?|for ${quote})(${dns})_(${dns})(?:[("'\`_]|$)|Name:(${dns}),[^}]{0,80}Namespace:(${dns}),`,
)
const spaceThenPod = new RegExp(
  `pod="(${dns})/(${dns})"|\\[(${dns})/(${dns})[/: \\]]|(?:adding|removing) pod (${dns})_(${dns}) |error (?:adding|deleting) (${dns})_(${dns})[/ ]`,
  'i',
)
const podAlone = new RegExp(`(?:network )?for pod ${quote}(${dns})${quote}`)

const podIn = (text: string): [pod: string | undefined, namespace: string | undefined] => {
  const podFirst = podThenSpace.exec(text)
  if (podFirst) return [podFirst[1] ?? podFirst[3], podFirst[2] ?? podFirst[4]]
  const spaceFirst = spaceThenPod.exec(text)
  if (spaceFirst) {
    const [space, pod] = spaceFirst.slice(1).filter(group => group !== undefined)
    return [pod, space]
  }
  return [firstOf(text, podAlone), undefined]
}

const sandboxIn = (text: string): string | undefined =>
  firstOf(
    text,
    /sandbox (?:container )?["'`]([0-9a-f]{12,64})["'`]/i,
    /\(([0-9a-f]{64})\)/,
    /(?:podSandboxID|sandboxID)="?([0-9a-f]{12,64})/,
    /podsandbox (?:for )?["'`]([0-9a-f]{12,64})["'`]/i,
    /\{["'`]?docker["'`]? ["'`]([0-9a-f]{12,64})/,
    /\/([0-9a-f]{64}) from network/,
    /in sandbox ([0-9a-f]{64})/,
    /for id ([0-9a-f]{64})/,
  )

const networkNamed = new RegExp(
  `(?:cni|container to|to|get|set) network ${quote}(${name})${quote}|invoking conflist(?:add|del) - ${quote}(${name})${quote}|available in network: ?(${name})|from network ${name}/(${name}):|plugin type=${quote}${name}${quote} name=${quote}(${name})${quote}`,
  'gi',
)
const objectNamed = new RegExp(`(?:configmaps?|secrets?|for volume) ${quote}(${name})${quote}`, 'i')

/** Reads what a plain text names; `at` is where the words stand that decided. */
export const partsOf = (text: string, at: number): MessageParts => {
  const before = text.slice(0, at)
  const [pod, namespace] = podIn(text).map(each => (each !== undefined && uid.test(each) ? undefined : each))
  const index = firstOf(text, /failed to allocate for range (\d{1,3})/i)
  const port = firstOf(
    text,
    /dial (?:tcp|udp)6? (?:\[[0-9a-f:.%]{2,60}\]|[\w.-]{1,253}):(\d{1,5})\b/i,
    /\]:(\d{2,5})\b/,
  )
  const volumes = firstOf(text, /unmounted volumes=\[([^\]]{1,2000})\]/i)
  return {
    plugin: firstOf(text, missing, executed) ?? lastOf(before, called) ?? lastOf(text, called),
    delegates: delegatesIn(text),
    rangeIndex: numberOf(index, 999),
    ranges: rangesIn(text),
    network: lastOf(text, networkNamed)?.replace(/[.;]$/, ''),
    path: pathIn(text),
    port: numberOf(port, 65_535),
    pod,
    namespace,
    sandboxId: sandboxIn(text),
    volumes: volumes?.split(/[ ,]+/).filter(each => each !== '') ?? [],
    object: firstOf(text, objectNamed, /in (?:configmap|secret) ([\w./-]{1,253})/i),
    image: firstOf(text, /image:? ["'`]([^"'`\s]{1,300})["'`]/i),
  }
}
