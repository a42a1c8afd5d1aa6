import { type CniMessage, readCniMessage } from '../diagnosis/cni-message.js'
import { once } from './once.js'
import type { Line, Report } from './report.js'

/** Something that a machine said, read by the classifier, wherever it stood. */
export interface Spoken {
  reading: CniMessage
  text: string
  from: Line['from'] | 'node'
  /** An event's object, a unit or a command. */
  object: string | undefined
  source: string
  count: number
  overMs: number | undefined
}

/** Commands whose output is messages of programs, not a table or a file. */
const printsMessages =
  /\bjournalctl\b|\bdescribe\b|\blogs?\b|\bget\s+(?:events?|ev)\b|\bdmesg\b|\bsystemctl\s+(?:-\S+\s+)?status\b|\bcrictl\s+(?:info|pull|run)|\/var\/log\/|\bctr\b|\bdocker\s+pull\b/

const mostCommandLines = 1_000

const ofLine = (line: Line): Spoken[] => {
  const { text, from, object, source, count, overMs } = line
  const reading = line.reading ?? readCniMessage(text)
  return [{ reading, text, from, object, source, count, overMs }]
}

const ofNode = ({ node }: Report): Spoken[] => {
  const texts = [node?.readyReason, node?.readyMessage].filter(text => text !== undefined)
  return texts.map(text => ({
    reading: readCniMessage(text),
    text,
    from: 'node',
    object: node?.name,
    source: '',
    count: 1,
    overMs: undefined,
  }))
}

/** Events, journal, agent logs, the node's own words, and what commands printed of these. */
export const spokenIn = once((report: Report): Spoken[] => {
  const said = report.lines.filter(line => line.from !== 'command')
  const printed = report.lines
    .filter(({ from, source }) => from === 'command' && printsMessages.test(source.slice(0, 2_000)))
    .slice(0, mostCommandLines)
  return [...said.flatMap(ofLine), ...ofNode(report), ...printed.flatMap(ofLine)]
})
