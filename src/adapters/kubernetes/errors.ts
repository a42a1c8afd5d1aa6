import { ApiException } from '@kubernetes/client-node'
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
    return new Unreachable(`could not ${attempted}: ${server} answered ${status}${why}`)
  if (status === 409) return new Unreachable(`could not ${attempted}: it was changed meanwhile${why}`)
  return new Failed(`could not ${attempted}: ${server} answered ${status}${why}`)
}

/** Reads an error thrown by the client or by fetch. */
export const problemOf = (error: unknown): CallProblem => {
  if (error instanceof Refused) throw error
  // Not by `code`: an aborted fetch throws a DOMException, whose code is a number too.
  if (error instanceof ApiException) return { status: error.code, said: statusMessage(error.body) }
  return { status: undefined, said: reasonOf(error) }
}

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

/** Why something failed, on one line. fetch hides the reason ("fetch failed") in `cause`. */
export const reasonOf = (error: unknown): string => {
  const { name, message, cause } = partsOf(error)
  if (name === 'TimeoutError') return 'no answer within the deadline'
  if (cause === undefined) return oneLine(message)
  const inner = partsOf(cause)
  return oneLine(inner.code === undefined ? inner.message : `${inner.code} ${inner.message}`)
}

const partsOf = (error: unknown): { name?: string; code?: string; message: string; cause?: unknown } => {
  if (typeof error !== 'object' || error === null) return { message: String(error) }
  const text = (key: 'name' | 'code' | 'message'): string | undefined => {
    const value: unknown = key in error ? Reflect.get(error, key) : undefined
    return typeof value === 'string' ? value : undefined
  }
  const [name, code, message = ''] = [text('name'), text('code'), text('message')]
  return {
    ...(name === undefined ? {} : { name }),
    ...(code === undefined ? {} : { code }),
    message,
    ...('cause' in error ? { cause: error.cause } : {}),
  }
}
