import { Failed, Refused, Unreachable } from '../../ports.js'

/** What went wrong with one call, before it is known what the caller makes of it. */
export interface CallProblem {
  /** HTTP status; undefined when no answer came. */
  status: number | undefined
  /** The server's own words, from a Status object only: one line, cut. Never a body or header. */
  said: string
}

/** The client's error, or the status of a raw answer, as one of the three classes and one clear line. */
export const kubeError = (attempted: string, server: string, problem: CallProblem): Error => {
  const { status, said } = problem
  const why = said === '' ? '' : `: ${said}`
  if (status === undefined) return new Unreachable(`could not ${attempted}: ${server} gave no answer${why}`)
  if (status === 401)
    return new Refused(
      `could not ${attempted}: ${server} does not accept our credentials; check token or certificate`,
    )
  if (status === 403)
    return new Refused(`could not ${attempted}: not allowed${why}; check the role this account has`)
  if (status === 404) return new Refused(`could not ${attempted}: not found${why}`)
  if (status === 429 || status >= 500)
    return new Unreachable(`could not ${attempted}: ${server} answered ${status}${why}; it is tried again`)
  if (status === 409)
    return new Unreachable(`could not ${attempted}: it was changed meanwhile${why}; it is tried again`)
  return new Failed(`could not ${attempted}: ${server} answered ${status}${why}`)
}

/** Reads an error thrown by the client or by fetch. */
export const problemOf = (error: unknown): CallProblem => {
  if (error instanceof Refused) throw error
  if (hasCode(error) && typeof error.code === 'number')
    return { status: error.code, said: statusMessage(error.body) }
  return { status: undefined, said: networkMessage(error) }
}

const hasCode = (error: unknown): error is { code: unknown; body?: unknown } =>
  error instanceof Error && 'code' in error

/** `message` of a Status object; '' for anything else, whose text might hold whatever a proxy wrote. */
export const statusMessage = (body: unknown): string => {
  try {
    const status: unknown = typeof body === 'string' ? JSON.parse(body) : body
    if (typeof status !== 'object' || status === null || !('kind' in status) || status.kind !== 'Status')
      return ''
    return 'message' in status && typeof status.message === 'string' ? oneLine(status.message) : ''
  } catch {
    return ''
  }
}

const controls = /\p{Cc}+/gu

export const oneLine = (text: string, most = 300): string => {
  const line = text.replace(controls, ' ').trim()
  return line.length > most ? `${line.slice(0, most)}…` : line
}

/** fetch hides the reason ("fetch failed") in `cause`; a deadline is named for what it is. */
const networkMessage = (error: unknown): string => {
  if (!(error instanceof Error)) return ''
  if (error.name === 'TimeoutError') return 'no answer within the deadline'
  const cause = error.cause instanceof Error ? error.cause : error
  return oneLine(
    'code' in cause && typeof cause.code === 'string' ? `${cause.code} ${cause.message}` : cause.message,
    200,
  )
}
