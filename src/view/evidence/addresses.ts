import type { Answer, Bundle, Conflist, NetworkStore, PeerCount } from '../../core/evidence/bundle.js'
import { isKnown, valueIn } from '../../core/evidence/bundle.js'
import type { Gap } from '../../core/ipam/gap.js'
import { code, joined, many, oneLine, strong, type Text, t } from '../text.js'
import { ago, near } from '../time.js'
import { quoted, type Row, row, rowOf, shortId } from './row.js'

export const ofUsable = (taken: number, usable: number | undefined): string =>
  usable === undefined ? `${taken}` : `${taken} of ${usable}`

const subnets = (conflist: Conflist | undefined): string =>
  conflist?.ipam.rangeSets
    .flat()
    .map(range => range.subnet)
    .join(', ') ?? ''

const also = (gap: Gap): string[] => [
  ...(gap.young > 0 ? [`${gap.young} too young to tell`] : []),
  ...(gap.foreign > 0 ? [`${gap.foreign} with an owner that is no sandbox id`] : []),
  ...(gap.outside > 0 ? [`${gap.outside} outside the range`] : []),
  ...(gap.unreadable > 0 ? [`${gap.unreadable} unreadable`] : []),
]

const bookkeeping = (store: NetworkStore): Text => {
  const more = store.foreign.length + store.unreadable.length
  const besides = more === 0 ? '' : `, ${many(more, 'entry', 'entries')} of another kind`
  return t`${code(`ls ${store.dir} | wc -l`)} says ${store.entries}: ${store.bookkeeping.length} are bookkeeping${besides}`
}

/** P-E3: the gap first, then what a person counting by hand would see. */
export const addressRow = (bundle: Bundle, gap: Answer<Gap>): Row => {
  const store = valueIn(bundle.stores)?.[0]
  if (!isKnown(gap)) {
    const counted =
      store &&
      t`${store.allocations.length} address files; how many of them leaked is not known: ${oneLine(gap.reason)}`
    return counted && store
      ? row('Addresses', counted, bookkeeping(store))
      : { label: 'Addresses', lines: [], unknown: oneLine(gap.reason) }
  }
  const value = gap.value
  const conflist = valueIn(bundle.conflist)
  const where = subnets(conflist)
  const free = value.usable === undefined ? '; how many the range can give is not known' : ''
  const rest = [`${value.live} living`, ...also(value)].join(', ')
  return row(
    'Addresses',
    t`${strong(ofUsable(value.taken, value.usable))} taken${where ? ` in ${where}` : ''} (network ${value.network})${free}: ${strong(`${value.orphaned} without a sandbox`)}, ${rest}`,
    store && bookkeeping(store),
  )
}

/** P-E4: counts are what people think in; the verdict compared ids. */
export const sandboxRow = (bundle: Bundle, gap: Answer<Gap>): Row =>
  rowOf('Sandboxes', bundle.sandboxes, list => {
    const counts = valueIn(gap)?.sandboxes
    const total = counts?.total ?? list.length
    const ready = counts?.ready ?? list.filter(each => each.state === 'ready').length
    const host =
      counts?.hostNetwork === undefined
        ? 'how many are on the host network is not known'
        : `${counts.hostNetwork} on the host network${counts.hostNetwork > 0 ? ' (they own no address)' : ''}`
    const owning = valueIn(gap)
    const runtime = valueIn(bundle.runtime)
    return [
      t`${strong(total)} listed: ${ready} ready, ${total - ready} not ready, ${host}${owning ? `; ${owning.live} addresses belong to one` : ''}`,
      owning?.withoutAddress
        ? t`${many(owning.withoutAddress, 'Pod-network sandbox', 'Pod-network sandboxes')} without an address`
        : undefined,
      runtime &&
        t`${oneLine(`${runtime.name} ${runtime.version}`)} at ${code(runtime.endpoint)} (${oneLine(runtime.endpointFrom)})`,
      recordLine(bundle),
    ]
  })

const recordLine = (bundle: Bundle): Text =>
  isKnown(bundle.records)
    ? t`its earlier records: ${bundle.records.value.ids.length} ids (${code(bundle.records.value.source)})`
    : t`its earlier records: not known: ${oneLine(bundle.records.reason)}`

const peerCells = ({ node, counts }: PeerCount): string[] =>
  isKnown(counts)
    ? [
        node,
        ofUsable(counts.value.allocations, counts.value.usable),
        String(counts.value.sandboxes),
        String(counts.value.orphans),
      ]
    : [node, `not known: ${oneLine(counts.reason)}`, '–', '–']

/** P-E6: the same numbers on this node and its peers, so that normal is visible. */
export const peerTable = (bundle: Bundle, gap: Answer<Gap>): string[][] => {
  const own = valueIn(gap)
  const listed = valueIn(bundle.sandboxes)
  const self = [
    bundle.node,
    own ? ofUsable(own.taken, own.usable) : 'not known',
    listed ? String(listed.length) : 'not known',
    own ? String(own.orphaned) : 'not known',
  ]
  return [['Node', 'Addresses taken', 'Sandboxes', 'Without a sandbox'], self, ...bundle.peers.map(peerCells)]
}

/** P-E5: a few files opened, and what the runtime says of their owners. */
export const sampleRow = (bundle: Bundle, gap: Answer<Gap>, timeZone: string): Row =>
  rowOf('A sample', bundle.owners, owners => {
    if (owners.length === 0) return [t`no orphan to look at`]
    const files = new Map(
      valueIn(gap)?.standings.map(({ allocation }) => [allocation.ip, allocation]) ??
        valueIn(bundle.stores)?.flatMap(store => store.allocations.map(each => [each.ip, each] as const)),
    )
    const sample = owners.slice(0, 3)
    const same = sample.every(each => !each.known && oneLine(each.said) === oneLine(sample[0]?.said ?? ''))
    const lines = sample.map(({ ip, owner, known, said }) => {
      const file = files.get(ip)
      const made = file
        ? `${file.ifname ? ` ${oneLine(file.ifname)}` : ''}, made ${ago(file.mtime, bundle.collectedAt)}, ${near(file.mtime, bundle.collectedAt, timeZone)}`
        : ''
      const answer = same
        ? t``
        : t`; the runtime ${known ? 'knows it' : 'does not know it'}: ${quoted(said, 120)}`
      return t`${ip} → ${code(shortId(owner))}${made}${answer}`
    })
    const all = t`the runtime knows none of these sandboxes: ${quoted(sample[0]?.said ?? '', 160)}`
    return same ? [...lines, all] : lines
  })

/** P-A5: counted and reported, never touched. */
export const leftoverRow = (bundle: Bundle): Row =>
  rowOf('Leftovers', bundle.leftovers, ({ veths, orphanedVeths, natChains, cachedResults }) => {
    const parts: Text[] = [
      t`${orphanedVeths} of ${veths} host veths without a peer`,
      natChains === undefined ? t`nat chains: not known` : t`${natChains} CNI- chains in nat`,
      cachedResults === undefined ? t`result cache: not known` : t`${cachedResults} cached results`,
    ]
    return [t`${joined(parts, ' · ')}. Reported, left alone.`]
  })
