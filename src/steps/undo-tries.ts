import { setTimeout as pause } from 'node:timers/promises'
import { Failed, Refused, Unreachable } from '../ports.js'
import type { StepContext } from './step.js'

/** An undo is safe to repeat, and one that failed ends the run: one bad moment must not do that. */
const tries = 3

/** @throws Failed after the last try, with the words and the output of that one */
export const triedAgain = async <T>(
  { settings, signal }: Pick<StepContext, 'settings' | 'signal'>,
  undo: () => Promise<T>,
): Promise<T> => {
  for (let left = tries - 1; ; left--) {
    try {
      return await undo()
    } catch (error) {
      if (signal.aborted) throw error
      if (!(error instanceof Failed || error instanceof Refused || error instanceof Unreachable)) throw error
      if (left === 0)
        throw new Failed(`${error.message}; tried ${tries} times`, 'output' in error ? error.output : '')
    }
    await pause(settings.lookEveryMs, undefined, { signal })
  }
}
