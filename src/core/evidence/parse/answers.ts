import { isKnown, unknown, type Answer, type NodeAnswers } from '../bundle.js'
import { readStores } from './allocations.js'
import { readConflist } from './conflist.js'
import { readFrames, type Section } from './frames.js'
import { readHeld, readLeftovers } from './held.js'
import { type Asked, readHost } from './host.js'
import { readJournal } from './journal.js'
import { readOwners, readRecords } from './records.js'
import { readRestarts } from './restarts.js'
import { readRuntime, readSandboxes, readUnitStarts, runtimeUnits } from './sandboxes.js'
import { type ProbeOutput, whyCut } from './section.js'

export type { Asked } from './host.js'
export type { ProbeOutput } from './section.js'

const known = <T>(answer: Answer<T>): T | undefined => (isKnown(answer) ? answer.value : undefined)

/** Every part unknown for one reason: the node could not be asked at all. */
export const silentNode = (reason: string, at: number): NodeAnswers => {
  const none = unknown(reason, at)
  return {
    host: none,
    conflist: none,
    stores: none,
    runtime: none,
    sandboxes: none,
    records: none,
    owners: none,
    held: none,
    journal: none,
    restarts: none,
    leftovers: none,
  }
}

/**
 * The probe's output as answers, dated by our clock. Sections that failed or did not arrive are unknown, each with one
 * line that says why; the rest stands.
 */
export const readNodeAnswers = (output: ProbeOutput, asked: Asked): NodeAnswers => {
  const { sections, overlong } = readFrames(output.stdout)
  const cut = overlong ? 'the answer has more lines than a node can need; look at the node' : whyCut(output)
  const read = <T>(name: string, reader: (section: Section, at: number) => Answer<T>): Answer<T> => {
    const section = sections.get(name)
    return section === undefined ? unknown(`${name}: ${cut}`, asked.now) : reader(section, ours(section.at))
  }
  const ours = (nodeTime: number): number => nodeTime - (known(host)?.skewMs ?? 0)
  const hostSection = sections.get('host')
  let host: NodeAnswers['host'] = unknown(`host: ${cut}`, asked.now)
  if (hostSection !== undefined) {
    const first = readHost(hostSection, asked, asked.now)
    host = isKnown(first) ? { ...first, at: hostSection.at - first.value.skewMs } : first
  }

  const starts = readUnitStarts(sections.get('restarts')?.body ?? '')
  const startedAt = starts.find(({ unit }) => runtimeUnits.test(unit))?.at
  const runtime = read('runtime', (section, at) => readRuntime(section, startedAt, at))
  const conflist = read('conflist', (section, at) => readConflist(section, known(runtime)?.name, at))
  const own = known(conflist)
  const sandboxes = read('sandboxes', readSandboxes)
  const journalSection = sections.get('journal')
  const journal =
    journalSection === undefined ? undefined : readJournal(journalSection, ours(journalSection.at))
  const seen = journal !== undefined && isKnown(journal.journal) ? journal.starts : undefined
  return {
    host,
    conflist,
    stores: read('stores', (section, at) =>
      readStores(
        section,
        sections.get('contents'),
        own === undefined ? undefined : `${own.ipam.dataDir}/${own.name}`,
        at,
      ),
    ),
    runtime,
    sandboxes,
    records: read('records', (section, at) =>
      readRecords(section, known(runtime), known(sandboxes)?.length, at),
    ),
    owners: read('owners', readOwners),
    held: read('held', readHeld),
    journal: journal?.journal ?? unknown(`journal: ${cut}`, asked.now),
    restarts: read('restarts', (section, at) => readRestarts(section, seen, known(host)?.bootedAt, at)),
    leftovers: read('leftovers', readLeftovers),
  }
}
