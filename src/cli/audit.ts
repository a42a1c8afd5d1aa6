import { once } from 'node:events'
import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import { createHistory, type RedisHistory } from '../adapters/redis/history.js'
import { clockFrom } from '../adapters/system/clock.js'
import { type Environment, environment, readSettings } from '../config.js'
import {
  type AuditVerdict,
  type ChainEntry,
  follow,
  readLine,
  startWalk,
  verdictOf,
} from '../core/audit/chain.js'
import { duration } from '../core/duration.js'
import { canonical } from '../core/runbook/plan.js'
import { verifyAudit } from '../flows/verify-audit.js'
import { Refused } from '../ports.js'
import { auditLine } from '../view/audit.js'

interface AuditOptions {
  redisUrl?: string
  cluster?: string
}
export interface VerifyOptions extends AuditOptions {
  head?: string
  file?: string
}
export interface ExportOptions extends AuditOptions {
  since?: string
  node?: string
}

/** Flags win over the environment. */
const settingsOf = (options: AuditOptions) => {
  const env = environment()
  const wanted: Environment = {
    ...env,
    CNIBOT_REDIS_URL: options.redisUrl ?? env.CNIBOT_REDIS_URL,
    CNIBOT_CLUSTER: options.cluster ?? env.CNIBOT_CLUSTER,
  }
  return readSettings(wanted, 'audit')
}

const withHistory = async <T>(
  options: AuditOptions,
  work: (history: RedisHistory, cluster: string) => Promise<T>,
): Promise<T> => {
  const { redisUrl: url, cluster } = settingsOf(options)
  // Nobody waits for a click here: a slow server gets the time it takes.
  const history = createHistory({ url, cluster, deadlineMs: 30_000 })
  try {
    return await work(history, cluster)
  } finally {
    await history.close()
  }
}

/** Waits where the reader is slow: what was read is not piled up in memory. */
const print = async (text: string): Promise<void> => {
  if (!process.stdout.write(text)) await once(process.stdout, 'drain')
}

const headPattern = /^[0-9a-f]{8,64}$/

/** An export holds each entry with its hash as one JSON object a line; in the chain the hash stands before it. */
const asChainLine = (line: string): string => {
  try {
    const { hash, ...entry } = JSON.parse(line) as ChainEntry & { hash: string }
    return `${hash} ${canonical(entry)}`
  } catch {
    return line
  }
}

/** A whole export, without the histories: those are only in Redis. */
const verifyFile = async (path: string, options: AuditOptions, head?: string): Promise<AuditVerdict> => {
  // Redis is not asked.
  const { cluster } = settingsOf({ redisUrl: 'redis://none', ...options })
  const input = createReadStream(path, 'utf8')
  await once(input, 'open').catch((error: NodeJS.ErrnoException) => {
    throw new Refused(
      `${path} cannot be read (${error.code}); give the file that \`cnibot audit export\` wrote`,
    )
  })
  let walk = startWalk(cluster, head)
  for await (const line of createInterface({ input, crlfDelay: Infinity }))
    if (line !== '') walk = follow(walk, asChainLine(line))
  const verdict = verdictOf(walk)
  return verdict.whole ? { ...verdict, plans: 0 } : verdict
}

/** Prints one line. Exit code 0 when all of the chain holds, 1 when not, with the first place that breaks. */
export const auditVerify = async (options: VerifyOptions): Promise<void> => {
  const { head, file } = options
  if (head !== undefined && !headPattern.test(head))
    throw new Refused(`--head ${head}: give at least the first 8 hex digits of a hash that was noted`)
  const verdict =
    file === undefined
      ? await withHistory(options, (history, cluster) =>
          verifyAudit({ history, audit: history.audit, cluster }, head),
        )
      : await verifyFile(file, options, head)
  await print(`${auditLine(verdict)}\n`)
  if (!verdict.whole) process.exitCode = 1
}

/** `7d`, or a date that says its zone or is a day. */
const sinceOf = (text: string, now: number): number => {
  const span = duration.safeParse(text)
  if (span.success) return now - span.data
  const dated = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2}))?$/.test(text)
  const time = dated ? Date.parse(text) : Number.NaN
  if (Number.isNaN(time))
    throw new Refused(`--since ${text}: give a time such as 7d, 2026-11-18 or 2026-11-18T11:30:00Z`)
  return time
}

const page = 500

/** Prints entries as JSON lines, oldest first, a page at a time. A line that cannot be read is printed as it is, and told. */
export const auditExport = async (options: ExportOptions): Promise<void> => {
  const { clockFile } = settingsOf(options)
  const since = options.since === undefined ? undefined : sinceOf(options.since, clockFrom(clockFile).now())
  // Who reads only the beginning, as `head` does, has what they wanted.
  process.stdout.once('error', () => process.exit(0))
  const exported = (line: string): string => {
    const read = readLine(line)
    if (!read) {
      process.exitCode = 1
      return `${JSON.stringify({ unreadable: line })}\n`
    }
    const { entry, hash } = read
    if (since !== undefined && entry.at < since) return ''
    if (options.node !== undefined && entry.node !== options.node) return ''
    return `${JSON.stringify({ ...entry, hash })}\n`
  }
  await withHistory(options, async ({ audit }) => {
    const end = await audit.length()
    for (let after = 0; after < end; ) {
      const lines = await audit.lines(after, Math.min(page, end - after))
      if (lines.length === 0) return
      after += lines.length
      await print(lines.map(exported).join(''))
    }
  })
}
