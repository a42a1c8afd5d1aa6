import type { RunState } from '../core/runbook/run.js'
import { mayHaveActed } from './undo.js'

/**
 * For a card at which people wait and look for something to try (P-A6); empty where no removal is left to be done. What is
 * left after one is for the checks to say.
 */
export const noRestart = ({ runbook, lines }: RunState): string => {
  const removal = lines.find(({ spec }) => spec.kind === 'remove-orphans')
  if (!runbook.answers.includes('allocations-leaked') || removal?.status === 'done') return ''
  const still = removal && mayHaveActed(removal) ? 'may still be' : 'are still'
  return ` Meanwhile do not restart the kubelet or the runtime: addresses ${still} leaked, a restart gives none back and can lose more.`
}
