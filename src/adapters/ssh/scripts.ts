import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const path = (name: string): string => fileURLToPath(new URL(name, import.meta.url))

/** The whole probe: its parts in order, as one text for a shell's standard input. */
export const probeScript = (): string =>
  ['probe.sh', 'probe-runtime.sh', 'probe-journal.sh'].map(name => readFileSync(path(name), 'utf8')).join('')

const digestOf = (text: string | Buffer): string => createHash('sha256').update(text).digest('hex')

/** SHA-256 of the probe: what `cat` of its parts in order gives, as a node has it installed. */
export const probeDigest = (): string => digestOf(probeScript())

/** Where the script lies that an operator installs on each node. */
export const removeOrphansPath = path('remove-orphans.sh')

/** SHA-256 of that script: a node with another version of it refuses. */
export const removeOrphansDigest = (): string => digestOf(readFileSync(removeOrphansPath))
