/**
 * How long `cnibot explain` thinks, against its limits: 20 ms a case, 200 ms for a megabyte of journal. Reading JSON from
 * disk is not in it. Prints the median of each and its ratio to the limit; 1.00 is the limit.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { explain } from '../../src/core/explain/explain.js'
import { readReport } from '../../src/core/report/read-report.js'

const rounds = Number(process.argv[2] ?? 30)
const folders = ['test/fixtures/cases', 'test/fixtures/more-cases']

const parse = (file: string): unknown => JSON.parse(readFileSync(file, 'utf8'))
const cases = folders.flatMap(folder =>
  readdirSync(folder)
    .filter(name => name.endsWith('.json'))
    .map(name => parse(join(folder, name))),
)

const once = (value: unknown): number => {
  const began = performance.now()
  explain(readReport(value).report)
  return performance.now() - began
}
const median = (values: number[]): number => values.sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0
const say = (what: string, took: number, limit: number): void => {
  const shown = took < 10 ? took.toFixed(1) : took.toFixed(0)
  process.stdout.write(`${what}: ${shown} ms, limit ${limit} ms, ratio ${(took / limit).toFixed(2)}\n`)
}

/** Real messages again and again, each with ids and words of its own, as a journal has them. */
const journalOf = (bytes: number, lineOf: (n: number) => string): unknown => {
  const journal: { unit: string; line: string }[] = []
  for (let size = 0, n = 0; size < bytes; n += 1) {
    const line = lineOf(n)
    journal.push({ unit: 'containerd', line })
    size += line.length + 1
  }
  return { inputs: { journal } }
}
const samples = readFileSync('test/fixtures/messages.tsv', 'utf8')
  .split('\n')
  .slice(1)
  .flatMap(line => line.split('\t').at(-1) || [])
const letters = (n: number): string =>
  n.toString().replaceAll(/\d/g, digit => 'ghjkmnpqrs'[Number(digit)] ?? '')
const id = (n: number): string => (n * 2_654_435_761).toString(16).padStart(64, 'a')

const known = journalOf(1_000_000, n => (samples[n % samples.length] ?? '').replace(/[0-9a-f]{64}/g, id(n)))
const strange = journalOf(1_000_000, n => `level=error msg="failed to ${letters(n)} the network of ${id(n)}"`)

for (const value of cases) once(value)
const each = cases.map(value => median(Array.from({ length: rounds }, () => once(value))))
say(`one case, median of ${cases.length}`, median([...each]), 20)
say('one case, the slowest', Math.max(...each), 20)
const few = Math.max(3, Math.round(rounds / 3))
say('1 MB of journal, known messages', median(Array.from({ length: few }, () => once(known))), 200)
say('1 MB of journal, no two alike', median(Array.from({ length: few }, () => once(strange))), 200)
