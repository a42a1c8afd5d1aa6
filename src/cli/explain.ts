import { readFileSync } from 'node:fs'
import { explain } from '../core/explain/explain.js'
import { NoReport, type ReadReport, readReport } from '../core/report/read-report.js'
import { Refused } from '../ports.js'
import { explainedText } from '../view/explained.js'

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

const fileText = (file: string): string => {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new Refused(`${file}: ${error instanceof Error ? error.message : String(error)}`)
  }
}

const parsed = (text: string, where: string): unknown => {
  try {
    return JSON.parse(text) as unknown
  } catch (error) {
    const why = text.trim() === '' ? 'it is empty' : error instanceof Error ? error.message : String(error)
    throw new Refused(`${where}: no JSON: ${why}`)
  }
}

const reportIn = (value: unknown, where: string): ReadReport => {
  try {
    return readReport(value)
  } catch (error) {
    if (error instanceof NoReport) throw new Refused(`${where}: ${error.message}`)
    throw error
  }
}

/** Explains a saved bundle or a case, from a file or (`-`, or nothing) standard input; needs no cluster, Redis or Slack. */
export const explainFile = async (file: string | undefined, { json }: ExplainOptions): Promise<void> => {
  const piped = file === undefined || file === '-'
  const where = piped ? 'standard input' : file
  const { report, unreadable } = reportIn(
    parsed(piped ? await standardInput() : fileText(file), where),
    where,
  )
  for (const part of unreadable) process.stderr.write(`cnibot: ${where}: ${part}; taken as not looked at\n`)
  const answer = explain(report)
  const text =
    json === true
      ? `${JSON.stringify(answer, null, 2)}\n`
      : explainedText(answer, process.stdout.isTTY === true)
  await new Promise<void>(resolve => process.stdout.write(text, () => resolve()))
}
