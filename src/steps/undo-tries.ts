import pRetry from 'p-retry'
import { Failed, Refused, Unreachable } from '../ports.js'
import type { StepContext } from './step.js'

/** An undo is safe to repeat, and one that failed ends the run: one bad moment must not do that. */
const tries = 3

/** @throws Failed after the last try, with the words and the output of that one */
export const triedAgain = async <T>(
  { settings, signal }: Pick<StepContext, 'settings' | 'signal'>,
  undo: () => Promise<T>,
): Promise<T> => {
  const worthAnother = (error: unknown): error is Failed | Refused | Unreachable =>
    !signal.aborted && (error instanceof Failed || error instanceof Refused || error instanceof Unreachable)
  try {
    return await pRetry(() => undo(), {
      retries: tries - 1,
      minTimeout: settings.lookEveryMs,
      factor: 1,
      signal,
      shouldRetry: ({ error }) => worthAnother(error),
    })
  } catch (error) {
    if (!worthAnother(error)) throw error
    throw new Failed(`${error.message}; tried ${tries} times`, 'output' in error ? error.output : '')
  }
}
