import type { Edit } from './code.js'

/** One guard of a rule, and how it is taken out of the code. All guards of a rule can be taken out together. */
export interface Removal {
  rule: number
  guard: string
  edits: Edit[]
}

export const refusals = 'core/ipam/removal-refusals.ts'
export const entries = 'core/ipam/removal-entries.ts'
export const removal = 'core/ipam/removal.ts'
export const gap = 'core/ipam/gap.ts'
export const script = 'adapters/ssh/remove-orphans.sh'

/** A function of a list of rules that is no longer in the list. */
export const unlisted = (rule: number, file: string, name: string): Removal => ({
  rule,
  guard: name,
  edits: [{ file, remove: `\n  ${name},\n`, put: '\n' }],
})
export const line = (rule: number, guard: string, file: string, remove: string, put = ''): Removal => ({
  rule,
  guard,
  edits: [{ file, remove, put }],
})
