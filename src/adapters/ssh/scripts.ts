import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const path = (name: string): string => fileURLToPath(new URL(name, import.meta.url))

/** The whole probe: its parts in order, as one text for a shell's standard input. */
export const probeScript = (): string =>
  ['probe.sh', 'probe-runtime.sh', 'probe-journal.sh']
    .map(name => readFileSync(path(name), 'utf8'))
    .join('\n')

/** Where the script lies that an operator installs on each node. */
export const removeOrphansPath = path('remove-orphans.sh')

/** SHA-256 of that script: a node with another version of it refuses. */
export const removeOrphansDigest = (): string =>
  createHash('sha256').update(readFileSync(removeOrphansPath)).digest('hex')
