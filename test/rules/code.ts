import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

type Removal = typeof import('../../src/core/ipam/removal.js')

const root = join(import.meta.dirname, '../..')
const scripts = ['remove-orphans.sh', 'probe.sh', 'probe-runtime.sh', 'probe-journal.sh']

/** The code the rules live in: the core's decision, the script that acts, and the probe whose order rule 2 is about. */
export interface Code {
  planRemoval: Removal['planRemoval']
  stillApproved: Removal['stillApproved']
  /** Path of remove-orphans.sh. */
  script: string
  /** Text of the whole probe. */
  probe: string
}

/** One cut in a copy of the code. */
export interface Edit {
  /** Below `src`. */
  file: string
  remove: string
  put?: string
}

const load = async (src: string): Promise<Code> => {
  const { planRemoval, stillApproved }: Removal = await import(join(src, 'core/ipam/removal.ts'))
  const ssh = join(src, 'adapters/ssh')
  const [script = '', ...probe] = scripts.map(name => join(ssh, name))
  return {
    planRemoval,
    stillApproved,
    script,
    probe: probe.map(path => readFileSync(path, 'utf8')).join('\n'),
  }
}

/** The code as it is. */
export const theCode = (): Promise<Code> => load(join(root, 'src'))

const cut = (src: string, { file, remove, put = '' }: Edit): void => {
  const path = join(src, file)
  const text = readFileSync(path, 'utf8')
  const times = text.split(remove).length - 1
  if (times !== 1)
    throw new Error(
      `found ${times} times instead of once in ${file}, so the table needs an update: ${remove}`,
    )
  writeFileSync(
    path,
    text.replace(remove, () => put),
  )
}

/** A copy of the code in `dir` with these edits; throws where an edit does not match exactly once. */
export const editedCode = async (dir: string, edits: readonly Edit[]): Promise<Code> => {
  const src = join(dir, 'src')
  cpSync(join(root, 'src/core'), join(src, 'core'), { recursive: true })
  mkdirSync(join(src, 'adapters/ssh'), { recursive: true })
  for (const name of scripts) cpSync(join(root, 'src/adapters/ssh', name), join(src, 'adapters/ssh', name))
  // The copy finds its packages and its kind of modules where the original does.
  symlinkSync(join(root, 'node_modules'), join(dir, 'node_modules'))
  cpSync(join(root, 'package.json'), join(dir, 'package.json'))
  for (const edit of edits) cut(src, edit)
  return load(src)
}
