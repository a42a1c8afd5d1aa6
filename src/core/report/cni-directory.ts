import { spokenIn } from './spoken.js'
import type { Report } from './report.js'

/** A directory of network configurations or of plugin binaries, as a command listed it. */
export interface Listing {
  path: string
  names: string[]
}

const header = /^(\/[^\s:]{1,300}):$/
const directory =
  /(\/[\w./*-]{0,300}(?:net\.d|cni\/bin|\/cni-network|\/cni-conf|libexec\/cni|usr\/lib\/cni|opt\/cni)(?![\w-])(?:\/[\w.*-]{0,80}){0,2})/g
const lists = /(?:^|[\s;|&])(?:ls|ll|find|tree|dir)\s/

const plain = (path: string): string => path.replace(/\/\*[^/]*$/, '').replace(/\/{1,9}$/, '')

const namesIn = (line: string): string[] => {
  const text = line.slice(0, 4_000).trim()
  if (text === '' || /^total \S{1,20}$/.test(text) || /^\d+ director/.test(text)) return []
  if (/cannot access|no such file|not found/i.test(text)) return []
  const words = text.split(/\s+/)
  const long = /^[-dlbcps][rwxsStT-]{9}/.test(text)
  const arrow = words.indexOf('->')
  const found = long ? [words[arrow > 0 ? arrow - 1 : words.length - 1] ?? ''] : words
  return found
    .map(word => word.replace(/^[├└─│]+/, '').replace(/[*@]$/, ''))
    .map(word => plain(word).split('/').at(-1) ?? '')
    .filter(word => word !== '' && word !== '.' && word !== '..' && /^[\w.+@~-]{1,200}$/.test(word))
}

/** What was listed; a directory that does not exist is one without entries. */
export const listingsOf = ({ commands }: Report): Listing[] =>
  commands.slice(0, 200).flatMap(({ cmd, output }) => {
    const text = cmd.slice(0, 2_000)
    const asked = [...text.matchAll(directory)].map(match => plain(match[1] ?? ''))
    const [first] = asked
    if (first === undefined || !lists.test(text) || /\bwc\b|grep\s+-\w*c/.test(text)) return []
    const found = new Map(asked.map(path => [path, [] as string[]]))
    let at = first
    for (const line of output.slice(0, 2_000)) {
      const next = header.exec(line.slice(0, 400))?.[1]
      if (next === undefined) found.get(at)?.push(...namesIn(line))
      else {
        at = plain(next)
        found.set(at, found.get(at) ?? [])
      }
    }
    return [...found].map(([path, names]) => ({ path, names: [...new Set(names)] }))
  })

const isBinaries = (path: string): boolean => /bin$|libexec\/cni$|lib\/cni$|opt\/cni$/.test(path)

export const configListings = (report: Report): Listing[] =>
  listingsOf(report).filter(({ path }) => !isBinaries(path))

export const binaryListings = (report: Report): Listing[] =>
  listingsOf(report).filter(({ path }) => isBinaries(path))

/** What libcni reads: these endings alone, and the first by name is the network of the Pods. */
export const configsOf = ({ names }: Listing): string[] =>
  names.filter(name => /\.(?:conf|conflist|json)$/.test(name) && !name.startsWith('.')).toSorted()

const settings = [
  /--cni-conf-dir[= ]"?(\/[^\s"',]{1,300})/,
  /\b(?:conf_dir|network_dir|confDir|PluginConfDir|network_config_dir)"?\s{0,4}[=:]\s{0,4}\[?\s{0,4}"?(\/[^\s"',\]]{1,300})/,
  /\bno (?:valid )?networks? (?:config )?found in (\/[^\s:"',]{1,300})/i,
  /\bno cni configuration file in (\/[^\s:"',]{1,300})/i,
]

/** Where the runtime or the kubelet itself reads, as a flag, a setting or its own complaint tells. */
export const effectiveDirectory = (report: Report): string | undefined => {
  const printed = report.commands.flatMap(({ cmd, output }) => [cmd, ...output.slice(0, 500)])
  const texts = [...printed, ...spokenIn(report).map(({ text }) => text)]
  for (const pattern of settings)
    for (const text of texts) {
      const found = pattern.exec(text.slice(0, 4_000))?.[1]
      if (found !== undefined) return plain(found.replace(/\.$/, ''))
    }
  return undefined
}
