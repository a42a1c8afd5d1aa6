import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { removeOrphansPath } from '../../../src/adapters/ssh/scripts.js'

const isWhole = (text: string): boolean => spawnSync('dash', ['-n'], { input: text }).status === 0

/** The shipped script, line by line, and which of its lines are of its two halves. */
export interface Statements {
  lines: string[]
  /** Line numbers between two statements, on the way that `remove` takes. */
  remove: number[]
  /** The same for `restore`, inside the part that only it runs. */
  restore: number[]
  /** Whether the plugin's lock is held there by a removal. */
  underLock: (index: number) => boolean
}

/** Every place between two statements at which the script can die or stand still. */
export const readStatements = (path = removeOrphansPath): Statements => {
  const lines = readFileSync(path, 'utf8').split('\n')
  const restoreAt = lines.indexOf('if [ "$VERB" = restore ]; then')
  const restoreEnd = lines.indexOf('fi', restoreAt)
  const locked = lines.indexOf('take_lock', restoreEnd)
  const freed = lines.indexOf('free_lock', restoreEnd)
  if (restoreAt < 0 || locked < 0 || freed < locked) throw new Error(`${path}: its parts are not found`)
  const remove: number[] = []
  const restore: number[] = []
  for (let index = 1; index < lines.length; index += 1) {
    const before = lines.slice(0, index).join('\n')
    const inside = index > restoreAt && index <= restoreEnd
    if (inside ? isWhole(`${before}\nfi`) : isWhole(before)) (inside ? restore : remove).push(index)
  }
  return { lines, remove, restore, underLock: index => index > locked && index <= freed }
}

/** The script with one more line at this place. */
export const withLine = ({ lines }: Pick<Statements, 'lines'>, index: number, line: string): string =>
  [...lines.slice(0, index), line, ...lines.slice(index)].join('\n')
