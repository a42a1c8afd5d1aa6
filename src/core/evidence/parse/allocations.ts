import { known, unknown, type Allocation, type Answer, type NetworkStore } from '../bundle.js'
import { addressName, addressOrder } from './address.js'
import { readSeconds, type Section } from './frames.js'
import { whyFailed } from './section.js'
import { plain } from './text.js'

interface Entry {
  name: string
  readable: boolean
  /** As find prints it: f a file, d a folder, l a link. */
  type: string
  inode: number
  size: number
  mtime: number
}

const kinds: Record<string, string> = {
  d: 'a folder',
  l: 'a link',
  s: 'a socket',
  p: 'a pipe',
  b: 'a device',
  c: 'a device',
}
const bookkeeping = /^(?:lock|last_reserved_ip(?:\.\d+)?)$/
/** More cannot be an id and an interface. */
const longest = 512

/** Two ranges of 65,534 addresses each, and some room; more than a thousand networks is no node either. */
const most = { entries: 150_000, folders: 1_000 }
/** The probe lists folders with plain names only. */
const plainFolder = /^\/[\w.:/-]{1,400}$/

/**
 * `@dir` and `<r|-><type> inode size mtime name` records, NUL after each: names may hold anything else. Undefined where
 * there are more than any node has.
 */
const readEntries = (body: string): Map<string, Entry[]> | undefined => {
  const folders = new Map<string, Entry[]>()
  let entries: Entry[] = []
  let count = 0
  for (let from = 0; from < body.length; ) {
    const end = body.indexOf('\0', from)
    const record = body.slice(from, end < 0 ? body.length : end)
    from += record.length + 1
    count += 1
    if (count > most.entries || folders.size > most.folders) return undefined
    if (record.startsWith('@')) {
      entries = []
      const dir = record.slice(1)
      if (plainFolder.test(dir)) folders.set(dir, entries)
      continue
    }
    const match = /^([r-])(.) (\d{1,20}) (\d{1,16}) (\S{1,40}) ([\s\S]+)$/.exec(record)
    if (match === null) continue
    const [, readable, type = '', inode, size, time, name = ''] = match
    const mtime = readSeconds(time) ?? 0
    entries.push({ name, readable: readable === 'r', type, inode: Number(inode), size: Number(size), mtime })
  }
  return folders
}

/** `@dir`, then `name TAB line` for each line of each file. */
const readContents = (body: string): Map<string, Map<string, string[]>> => {
  const folders = new Map<string, Map<string, string[]>>()
  let files = new Map<string, string[]>()
  for (const line of body.split('\n')) {
    if (line.startsWith('@')) {
      files = new Map()
      folders.set(line.slice(1), files)
      continue
    }
    const tab = line.indexOf('\t')
    if (tab < 1) continue
    const name = line.slice(0, tab)
    const lines = files.get(name)
    if (lines === undefined) files.set(name, [line.slice(tab + 1)])
    else lines.push(line.slice(tab + 1))
  }
  return folders
}

/** The lines came without saying whether a newline ended the last; the size does. */
const contentOf = (lines: string[], size: number): { content: string; size: number } => {
  const text = lines.join('\n')
  if (text.length + 1 === size) return { content: `${text}\n`, size }
  // Created empty and written between the two readings.
  return { content: text, size: size === 0 ? text.length : size }
}

const allocationOf = (ip: string, entry: Entry, lines: string[]): Allocation => {
  const { content, size } = contentOf(lines, entry.size)
  // host-local trims the whole before it compares: a blank first line hides no owner from its DEL.
  const [owner = '', ifname] = content.trimStart().split('\n')
  const named = ifname === undefined ? '' : ifname.trim()
  return {
    ip,
    owner: owner.trim(),
    ifname: named === '' ? undefined : named,
    content,
    inode: entry.inode,
    size,
    mtime: entry.mtime,
  }
}

const readStore = (
  dir: string,
  entries: Entry[],
  files: Map<string, string[]> | undefined,
  contents: Section | undefined,
): NetworkStore => {
  const store: NetworkStore = {
    network: dir.slice(dir.lastIndexOf('/') + 1),
    dir,
    allocations: [],
    bookkeeping: [],
    foreign: [],
    unreadable: [],
    entries: entries.length,
    lockInode: undefined,
  }
  const foreign = (name: string, why: string) => store.foreign.push({ name: plain(name, 255), why })
  const names = new Set<string>()
  for (const entry of entries) {
    const { name, size } = entry
    if (names.size === names.add(name).size) {
      foreign(name, 'listed twice, which no folder does')
      continue
    }
    const ip = addressName(name)
    if (bookkeeping.test(name) && entry.type === 'f') {
      store.bookkeeping.push(name)
      if (name === 'lock') store.lockInode = entry.inode
    } else if (entry.type !== 'f') foreign(name, kinds[entry.type] ?? 'no regular file')
    else if (ip === undefined) foreign(name, 'the name is no address as the plugin writes it')
    else if (size > longest) foreign(name, `${size} bytes are too many for an address file`)
    else {
      const lines = files?.get(name)
      if (lines !== undefined || size === 0) store.allocations.push(allocationOf(ip, entry, lines ?? []))
      else if (!entry.readable)
        store.unreadable.push({ name, why: plain(contents?.said || 'permission denied') })
      else if (contents === undefined) store.unreadable.push({ name, why: 'its content did not arrive' })
      else if (contents.said !== '' && !contents.said.includes('No such file')) {
        store.unreadable.push({ name, why: plain(contents.said) })
      }
      // Otherwise the plugin took the file away between the two readings: the address is free.
    }
  }
  const order = new Map(store.allocations.map(({ ip }) => [ip, addressOrder(ip)]))
  store.allocations.sort((a, b) => ((order.get(a.ip) ?? '') < (order.get(b.ip) ?? '') ? -1 : 1))
  return store
}

/**
 * The stores of all networks, `first` (the conflist's own) in front. Unknown where nothing of a network that has
 * address files could be read: that is not an empty network.
 */
export const readStores = (
  stores: Section,
  contents: Section | undefined,
  first: string | undefined,
  at: number,
): Answer<NetworkStore[]> => {
  if (stores.code !== 0)
    return unknown(whyFailed('the address files under /var/lib/cni/networks', stores), at)
  const files = readContents(contents?.body ?? '')
  const folders = readEntries(stores.body)
  if (folders === undefined)
    return unknown('the address files: more entries than a node can have; look at the node', at)
  const read = [...folders].map(([dir, entries]) => readStore(dir, entries, files.get(dir), contents))
  const blind = read.find(store => store.unreadable.length > 0 && store.allocations.length === 0)
  if (blind !== undefined) {
    const why = blind.unreadable[0]?.why ?? ''
    const todo = why.startsWith('sudo')
      ? '; allow this command for the probe’s user in sudoers'
      : '; the probe needs root there'
    return unknown(
      `${blind.dir}: none of ${blind.unreadable.length} address files could be read: ${why}${todo}`,
      at,
    )
  }
  if (read.length === 0)
    return unknown('/var/lib/cni/networks has no network: is host-local used on this node?', at)
  return known(
    read.sort((a, b) => Number(b.dir === first) - Number(a.dir === first)),
    at,
  )
}
