import { z } from 'zod'
import { bundleIn, readSavedBundle } from '../evidence/saved.js'
import type { Bundle } from '../evidence/bundle.js'
import { readCase } from './read-case.js'
import { reportOf } from './read-bundle.js'
import type { Report } from './report.js'

export interface ReadReport {
  report: Report
  /** Where the file was a saved bundle: with the parts that could not be read. */
  bundle: Bundle | undefined
  unreadable: string[]
}

/** Nothing that a report can be read from; the message says what and where. */
export class NoReport extends Error {
  override name = 'NoReport'
}

const placeOf = ({ issues: [issue] }: z.ZodError): string =>
  issue === undefined ? 'it has another shape' : `${issue.path.join('.') || 'the whole'}: ${issue.message}`

/**
 * A saved bundle, or a case. Throws NoReport with one line: what was wrong and where.
 */
export const readReport = (value: unknown): ReadReport => {
  const saved = bundleIn(value)
  try {
    if (saved !== undefined) {
      const { bundle, unreadable } = readSavedBundle(saved)
      return { report: reportOf(bundle), bundle, unreadable }
    }
    const isCase = z.object({ inputs: z.unknown() }).safeParse(value)
    if (!isCase.success || isCase.data.inputs === undefined)
      throw new NoReport(
        'neither a saved bundle (an object with stores and collectedAt) nor a case (an object with inputs)',
      )
    return { report: readCase(value), bundle: undefined, unreadable: [] }
  } catch (error) {
    if (error instanceof z.ZodError) throw new NoReport(placeOf(error))
    throw error
  }
}
