import { readFileSync, statSync } from 'node:fs'
import { explain } from '../core/explain/explain.js'
import { explainBundle } from '../core/explain/explain-bundle.js'
import { NoReport, type ReadReport, readReport } from '../core/report/read-report.js'
import { Refused } from '../ports.js'
import { explainedText } from '../view/explained.js'
import { oneLine } from '../view/text.js'

export interface ExplainOptions {
  json?: boolean
}

const mostBytes = 64 * 1024 * 1024

const standardInput = async (): Promise<string> => {
  const parts: Buffer[] = []
  let bytes = 0
  for await (const part of process.stdin as AsyncIterable<Buffer>) {
    bytes += part.length
    if (bytes > mostBytes) throw new Refused(`standard input: more than ${mostBytes / 1024 / 1024} MiB`)
    parts.push(part)
  }
  return Buffer.concat(parts).toString('utf8')
}

const reasons: Record<string, string> = {
  ENOENT: 'there is no such file',
  EISDIR: 'it is a folder; name the file in it',
  EACCES: 'it may not be read by you',
}

const fileText = (file: string): string => {
  try {
    const bytes = statSync(file).size
    if (bytes > mostBytes) throw new Refused(`${file}: more than ${mostBytes / 1024 / 1024} MiB`)
    return readFileSync(file, 'utf8')
  } catch (error) {
    if (error instanceof Refused) throw error
    const code = error instanceof Error && 'code' in error ? String(error.code) : ''
    throw new Refused(`${file}: ${reasons[code] ?? `it cannot be read${code === '' ? '' : ` (${code})`}`}`)
  }
}

const parsed = (text: string, where: string): unknown => {
  if (text.trim() === '') throw new Refused(`${where}: it is empty; a saved bundle or a case is expected`)
  try {
    return JSON.parse(text) as unknown
  } catch (error) {
    // The parser quotes what it stumbled over, whatever that is.
    throw new Refused(`${where}: no JSON: ${oneLine(error instanceof Error ? error.message : String(error))}`)
  }
}

const reportIn = (value: unknown, where: string): ReadReport => {
  try {
    return readReport(value)
  } catch (error) {
    if (error instanceof NoReport) throw new Refused(`${where}: ${oneLine(error.message)}`)
    throw error
  }
}

/** Explains a saved bundle or a case, from a file or (`-`, or nothing) standard input; needs no cluster, Redis or Slack. */
export const explainFile = async (file: string | undefined, { json }: ExplainOptions): Promise<void> => {
  const piped = file === undefined || file === '-'
  const where = piped ? 'standard input' : file
  const { report, bundle, unreadable } = reportIn(
    parsed(piped ? await standardInput() : fileText(file), where),
    where,
  )
  for (const part of unreadable)
    process.stderr.write(`cnibot: ${where}: ${oneLine(part)}; taken as not looked at\n`)
  const answer = bundle === undefined ? explain(report) : explainBundle(bundle)
  const text =
    json === true
      ? `${JSON.stringify(answer, null, 2)}\n`
      : explainedText(answer, process.stdout.isTTY === true)
  await new Promise<void>(resolve => process.stdout.write(text, () => resolve()))
}
