import { quoted } from '../../report/ask.js'
import type { CauseRule } from '../rule.js'

/** A runtime that was asked for its sandboxes and gave none that can be believed. */
export const noList: CauseRule = {
  name: 'runtime-gives-no-list',
  source:
    'CRI ListPodSandbox: the kubelet can do nothing without it, and without the list of owners every address looks leaked',
  read: ({ sandboxes }) => {
    const failed = sandboxes?.failed
    if (failed === undefined) return []
    const says = `the runtime was asked for its sandboxes and gave no list to go by: ${quoted(failed)}`
    const against = 'without the list of sandboxes nobody can tell a leaked address from a living one'
    return [
      { cause: 'runtime-error', for: [{ says, weight: 'proves' }] },
      { cause: 'ipam-leak', for: [], against: [{ says: against, weight: 'supports' }] },
      { cause: 'ipam-full-no-leak', for: [], against: [{ says: against, weight: 'supports' }] },
    ]
  },
}
