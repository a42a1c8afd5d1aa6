import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Runbook } from '../../core/runbook/schema.js'
import type { Runbooks } from '../../ports.js'
import { readRunbook } from './runbook-text.js'

/** All that is wrong with the runbook files, one line each; the process prints it and exits with 2. */
export class RunbookError extends Error {
  override name = 'RunbookError'
  constructor(readonly problems: string[]) {
    super(`The runbooks cannot be used:\n${problems.map(problem => `  ${problem}`).join('\n')}`)
  }
}

/** The folder that comes with the program: `runbooks` beside its package.json. */
export const shippedRunbooks = (): string => {
  let folder = dirname(fileURLToPath(import.meta.url))
  while (!existsSync(join(folder, 'package.json')) && dirname(folder) !== folder) folder = dirname(folder)
  return join(folder, 'runbooks')
}

/**
 * The shipped runbooks and those in `extraDir`, each validated, in order of their names. Read once: a file that
 * changes under a running process would change what an approval meant. `list` throws RunbookError.
 */
export const createRunbooks = (extraDir?: string, shippedDir = shippedRunbooks()): Runbooks => {
  let read: Promise<Runbook[]> | undefined
  return {
    list() {
      read ??= readFolders(extraDir === undefined ? [shippedDir] : [shippedDir, extraDir])
      return read
    },
  }
}

const readFolders = async (folders: string[]): Promise<Runbook[]> => {
  const problems: string[] = []
  const found = new Map<string, { runbook: Runbook; file: string }>()
  for (const file of (await Promise.all(folders.map(folder => filesOf(folder, problems)))).flat()) {
    const read = readRunbook(file, await readFile(file, 'utf8'))
    if ('problems' in read) {
      problems.push(...read.problems)
      continue
    }
    const { name } = read.runbook
    const other = found.get(name)
    if (other) problems.push(`${file}:1: the name ${name} is taken by ${other.file}; choose another`)
    else if (basename(file).replace(/\.ya?ml$/, '') !== name) {
      problems.push(`${file}:1: the name is ${name}, so the file must be called ${name}.yaml`)
    } else found.set(name, { runbook: read.runbook, file })
  }
  if (problems.length > 0) throw new RunbookError(problems)
  return [...found.values()].map(entry => entry.runbook).sort((a, b) => a.name.localeCompare(b.name))
}

const filesOf = async (folder: string, problems: string[]): Promise<string[]> => {
  try {
    const names = await readdir(folder)
    // A mounted ConfigMap holds its data in `..data`; only the links beside it are files.
    return names.filter(name => /^[^.].*\.ya?ml$/.test(name)).map(name => join(folder, name))
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    problems.push(`${folder}: cannot be read (${why}); check CNIBOT_RUNBOOKS_DIR`)
    return []
  }
}
