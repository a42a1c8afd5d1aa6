import type { Response } from 'undici'
import type { Kube } from './connect.js'
import { kubeError, problemOf, statusMessage } from './errors.js'

/**
 * Runs one call of the client; `attempted` completes "could not …".
 * A 401 is tried once more: after a rotation the token file may be read up to a minute late.
 * @throws Refused, Unreachable or Failed with one line
 */
export const call = async <T>(kube: Kube, attempted: string, request: () => Promise<T>): Promise<T> => {
  try {
    return await request()
  } catch (error) {
    if (problemOf(error).status !== 401) throw kubeError(attempted, kube.server, problemOf(error))
  }
  try {
    return await request()
  } catch (error) {
    throw kubeError(attempted, kube.server, problemOf(error))
  }
}

/** As `call`; undefined for an answer with one of these statuses. */
export const callUnless = <T>(
  kube: Kube,
  statuses: number[],
  attempted: string,
  request: () => Promise<T>,
): Promise<T | undefined> =>
  call(kube, attempted, async () => {
    try {
      return await request()
    } catch (error) {
      const { status } = problemOf(error)
      if (status !== undefined && statuses.includes(status)) return undefined
      throw error
    }
  })

interface Page<T> {
  items: T[]
  metadata?: { _continue?: string }
}

/** Pages of 500 without a resourceVersion: with `resourceVersion=0` the server ignores the limit. */
export const pages = async <T>(
  kube: Kube,
  attempted: string,
  list: (page: { limit: number; _continue?: string }) => Promise<Page<T>>,
): Promise<T[]> => {
  const items: T[] = []
  let next: string | undefined
  do {
    const token = next
    const page = await call(kube, attempted, () =>
      list(token === undefined ? { limit: 500 } : { limit: 500, _continue: token }),
    )
    items.push(...page.items)
    next = page.metadata?._continue || undefined
  } while (next !== undefined)
  return items
}

/** The status of a raw answer that is not 200, in words; reads its body away. */
export const rawProblem = async (response: Response): Promise<{ status: number; said: string }> => ({
  status: response.status,
  said: statusMessage(await response.text().catch(() => '')),
})
