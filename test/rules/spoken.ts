import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Edit } from './code.js'

const src = join(import.meta.dirname, '../../src')

/** One thing that a rule can say: the name of the function that says it, and the edit that takes the words away. */
export interface Spoken {
  by: string
  words: string
  edit: Edit
}

/** Where a reason is given: what `return`, a branch of a choice, or `missing` says. Declarations stand in the first column. */
const reason =
  /(?:return |\? |: |&& |=> )('(?:[^'\\\n]|\\.)+'|"(?:[^"\\\n]|\\.)+"|`[^`\n]+`)|missing\((?:'[^'\n]+'|"[^"\n]+"), [\w.]+\)/g

/** Every reason that the functions of `file` from `first` to `last` can give, and how each is silenced alone. */
export const spokenIn = (file: string, first: string, last: string): Spoken[] => {
  const text = readFileSync(join(src, file), 'utf8')
  const [from, to] = [text.indexOf(`const ${first}`), text.indexOf(`const ${last}`)]
  if (from < 0 || to < from) throw new Error(`${file}: ${first} and ${last} are not found in this order`)
  return [...text.slice(from, to).matchAll(reason)].map(found => {
    const at = from + found.index
    const by = [...text.slice(0, at).matchAll(/^(?:export )?const (\w+)/gm)].at(-1)?.[1] ?? ''
    const words = found[1] ?? found[0]
    const put = found[1] === undefined ? 'undefined' : found[0].replace(found[1], () => 'undefined')
    // As much of what stands before it as makes the place the only one.
    let start = at
    const end = at + found[0].length
    while (start > 0 && text.split(text.slice(start, end)).length > 2) start -= 1
    const edit = { file, remove: text.slice(start, end), put: text.slice(start, at) + put }
    return { by, words, edit }
  })
}
