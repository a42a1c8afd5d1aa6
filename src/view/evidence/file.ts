import type { Answer, Bundle } from '../../core/evidence/bundle.js'
import { isKnown, valueIn } from '../../core/evidence/bundle.js'
import type { Gap, Standing } from '../../core/ipam/gap.js'
import { asPlain, clean, oneLine } from '../text.js'
import { ago, date, near } from '../time.js'
import { peerTable } from './addresses.js'
import { withReasons } from './row.js'
import { evidenceRows } from './rows.js'

export interface File {
  name: string
  title: string
  text: string
}

const list = <T>(title: string, answer: Answer<T>, lines: (value: T) => string[]): string[] => {
  const body = isKnown(answer) ? lines(answer.value) : [`not known: ${oneLine(answer.reason)}`]
  return [`== ${title}`, ...(body.length > 0 ? body : ['none']), '']
}

const standingWords: Record<Standing['standing'], string> = {
  live: 'living',
  young: 'too young to tell',
  orphaned: 'without a sandbox',
  foreign: 'foreign owner',
  outside: 'outside the range',
}

// Exact times, and quick ones: a store can have tens of thousands of files.
const exact = (time: number | undefined): string =>
  time === undefined ? 'no usable time' : new Date(time).toISOString()

const addressLine = (standing: Standing, read: number): string => {
  const { ip, owner, ifname, mtime, inode } = standing.allocation
  const why = 'because' in standing ? ` (${oneLine(standing.because)})` : ''
  const made = `made ${exact(mtime)}, ${ago(mtime, read)}`
  return `${ip}  ${standingWords[standing.standing]}${why}  ${owner || '(empty file)'} ${ifname ?? ''}  ${made}  inode ${inode}`
}

/** Columns of plain text, as wide as their widest cell. */
export const columns = (rows: readonly (readonly string[])[]): string[] => {
  const widths = (rows[0] ?? []).map((_, i) => Math.max(...rows.map(row => row[i]?.length ?? 0)))
  return rows.map(row =>
    row
      .map((cell, i) => cell.padEnd(widths[i] ?? 0))
      .join('  ')
      .trimEnd(),
  )
}

const others = (bundle: Bundle): string[] =>
  list('Other entries of the stores', bundle.stores, stores =>
    stores.flatMap(store => [
      `${store.dir}: ${store.entries} entries, ${store.allocations.length} address files, lock inode ${store.lockInode ?? 'none'}`,
      ...store.bookkeeping.map(name => `  ${name}: bookkeeping`),
      ...store.foreign.map(({ name, why }) => `  ${oneLine(name)}: ${oneLine(why)}`),
      ...store.unreadable.map(({ name, why }) => `  ${oneLine(name)}: unreadable, ${oneLine(why)}`),
    ]),
  )

/** The summary, what ran on the node, and the long lists behind each number. */
const fileText = (bundle: Bundle, gap: Answer<Gap>, timeZone: string): string => {
  const read = bundle.collectedAt
  const at = (time: number | undefined): string =>
    time === undefined ? 'no usable time' : near(time, read, timeZone)
  const summary = withReasons(evidenceRows(bundle, gap, timeZone))
    .flat()
    .flatMap(({ label, lines }) => lines.map((line, i) => `${i === 0 ? `${label}: ` : '  '}${asPlain(line)}`))
  const lines = [
    `Evidence of ${bundle.node} in ${bundle.cluster}, read ${at(read)} (${new Date(read).toISOString()})`,
    '',
    '== What ran on the node',
    bundle.shown ?? 'nothing: the node was not reached',
    '',
    '== Summary',
    ...summary,
    '',
    '== This node and its peers',
    ...columns(peerTable(bundle, gap)),
    '',
    ...list('Addresses', gap, ({ standings }) => standings.map(each => addressLine(each, read))),
    ...others(bundle),
    ...list('Sandboxes', bundle.sandboxes, all =>
      all.map(
        each =>
          `${each.id}  ${each.state}  ${each.namespace}/${each.pod} #${each.attempt}  ${exact(each.createdAt)}`,
      ),
    ),
    ...list("The runtime's earlier records", bundle.records, ({ source, ids }) => [source, ...ids]),
    ...list('What the runtime says of sampled owners', bundle.owners, all =>
      all.map(
        each => `${each.ip}  ${each.owner}  ${each.known ? 'known' : 'not known'}  ${oneLine(each.said)}`,
      ),
    ),
    ...list('Addresses that something on the node holds', bundle.held, all =>
      all.map(each => `${each.ip}  by ${each.by}: ${oneLine(each.where)}`),
    ),
    ...list('FailedCreatePodSandBox events', bundle.events, all =>
      all.map(
        each =>
          `${each.namespace}/${each.pod}  ${each.count}× ${exact(each.first)}–${exact(each.last)}  ${oneLine(each.message)}`,
      ),
    ),
    ...list('Journal lines about ADD and DEL', bundle.journal, ({ lines: all, dropped }) => [
      ...all.map(each => `${new Date(each.at).toISOString()} ${each.unit}: ${oneLine(each.text)}`),
      ...(dropped > 0 ? [`(${dropped} further lines not kept)`] : []),
    ]),
    ...list('Pods', bundle.pods, all =>
      all.map(
        each =>
          `${each.namespace}/${each.name}  ${each.phase}  ${each.hostNetwork ? 'host network' : each.ips.join(', ')}`,
      ),
    ),
  ]
  return `${clean(lines.join('\n'))}\n`
}

/** All that a reading brought. The text is made when it is read: a thread is drawn far more often than it is attached. */
export const evidenceFile = (bundle: Bundle, gap: Answer<Gap>, timeZone: string): File => {
  const counted = valueIn(gap)
  // The message beside it goes on with newer readings; a file stays what it was.
  const read = `as read ${date(bundle.collectedAt, timeZone)}`
  return {
    name: `${bundle.node}-evidence.txt`,
    title: counted
      ? `${bundle.node}, ${read}: all ${counted.taken} addresses with their verdicts, what ran, what came back`
      : `${bundle.node}, ${read}: what ran, what came back`,
    get text() {
      return fileText(bundle, gap, timeZone)
    },
  }
}
