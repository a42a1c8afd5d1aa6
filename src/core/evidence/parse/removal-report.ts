import { createHash } from 'node:crypto'
import { z } from 'zod'
import { plain, readJson } from './text.js'

/** What must still be true of an approved file, so that the node moves it and no other. */
export interface ApprovedFile {
  ip: string
  owner: string
  content: string
  inode: number
  size: number
}

/**
 * The approved list as the node's script reads it: address, inode, size, owner (`-` for an empty file), sha256 of the
 * content, TAB between them, one file a line. Before them a line `first`, where no earlier order of the operation can have
 * moved a file: the node then refuses when its quarantine has some under that name.
 */
export const encodeRemovalList = (
  entries: readonly ApprovedFile[],
  which: 'first' | 'further' = 'further',
): string => (which === 'first' ? 'first\n' : '') + linesOf(entries)

const linesOf = (entries: readonly ApprovedFile[]): string =>
  entries
    .map(({ ip, inode, size, owner, content }) =>
      [
        ip,
        inode,
        size,
        owner === '' ? '-' : owner,
        createHash('sha256').update(content, 'utf8').digest('hex'),
      ].join('\t'),
    )
    .map(line => `${line}\n`)
    .join('')

/** Standard input of the node's script: the number of the order, which the node compares with the highest it has seen. */
export const encodeOrder = (fence: number, list = ''): string => `fence ${fence}\n${list}`

export interface RemovalReport {
  /** Moved by this try; for a restore: put back by this try. */
  moved: string[]
  skipped: { ip: string; why: string }[]
  /** Moved, or put back, by an earlier try of the same operation. */
  already: string[]
  /** Milliseconds for which this try held the plugin's lock. */
  underLockMs: number
  /** Folder on the node that holds the files; '' where the report did not come to its end. */
  quarantine: string
  /** False when the last line is missing: what was moved is then not known, and running it again tells. */
  complete: boolean
  /** Sandboxes the runtime listed right before the lock, and which of its own records were read. */
  sandboxes: number
  records: string
}

const count = z.number().int().min(0).max(1e9)
const fileLine = z.object({
  file: z.string().regex(/^[0-9a-f.:]{2,45}$/),
  result: z.enum(['moved', 'skipped', 'already']),
  why: z.string().optional(),
})
const lastLine = z.object({
  done: z.literal(true),
  underLockMs: count,
  quarantine: z.string().regex(/^\/[\w./:-]{1,400}$/),
  sandboxes: count.default(0),
  records: z.string().default(''),
})

/** A range of 65,534 addresses, twice, and a banner before it; no line is longer. */
const most = { lines: 150_000, foreign: 1_000, letters: 2_000 }

/** Reads the script's JSON lines; lines that are none of its own are ignored. */
export const readRemovalReport = (stdout: string): RemovalReport => {
  const report: RemovalReport = {
    moved: [],
    skipped: [],
    already: [],
    underLockMs: 0,
    quarantine: '',
    complete: false,
    sandboxes: 0,
    records: '',
  }
  let lines = 0
  let foreign = 0
  for (let from = 0; from < stdout.length && lines < most.lines && foreign < most.foreign; lines += 1) {
    const end = stdout.indexOf('\n', from)
    const line = stdout.slice(from, end < 0 ? stdout.length : end)
    from += line.length + 1
    const json = line.length > most.letters ? undefined : readJson(line)
    const file = fileLine.safeParse(json)
    if (file.success) {
      const { file: ip, result, why = '' } = file.data
      if (result === 'skipped') report.skipped.push({ ip, why: plain(why) })
      else report[result].push(ip)
    }
    const last = lastLine.safeParse(json)
    if (!file.success && !last.success) foreign += 1
    if (!last.success) continue
    const { underLockMs, quarantine, sandboxes, records } = last.data
    Object.assign(report, {
      underLockMs,
      quarantine,
      sandboxes,
      records: plain(records, 300),
      complete: true,
    })
  }
  return report
}
