import { ApiException } from '@kubernetes/client-node'
import { evictionBody } from '../../core/requests.js'
import type { Eviction, Guard } from '../../ports.js'
import { call, callUnless } from './call.js'
import type { Kube } from './connect.js'
import { oneLine, problemOf } from './errors.js'
import { isRecord } from './wire.js'

interface Cause {
  reason: string
  message: string
}

const parsed = (body: unknown): Record<string, unknown> => {
  if (typeof body !== 'string') return isRecord(body) ? body : {}
  try {
    const value: unknown = JSON.parse(body)
    return isRecord(value) ? value : {}
  } catch {
    return {}
  }
}

const text = (value: unknown): string => (typeof value === 'string' ? oneLine(value) : '')

/** `details.causes` of a Status: what tells a budget's refusal from the server's own. */
const causesOf = (body: unknown): Cause[] => {
  const { details } = parsed(body)
  const causes = isRecord(details) && Array.isArray(details.causes) ? details.causes : []
  return causes.filter(isRecord).map(cause => ({ reason: text(cause.reason), message: text(cause.message) }))
}

/** Of the header, or of the body where the server put it; 0 means "no idea" there. */
const retryAfterOf = ({ headers, body }: ApiException<unknown>): number | undefined => {
  const { details } = parsed(body)
  const inBody = isRecord(details) ? Number(details.retryAfterSeconds) : Number.NaN
  const seconds = Number(headers['retry-after'] ?? inBody)
  return Number.isFinite(seconds) && seconds > 0 ? seconds * 1_000 : undefined
}

/** The ledger of the budget itself cannot be trusted; a namespace or a Pod may be called anything. */
const brokenBudget = /is forbidden: (pdb disruptions allowed is negative|DisruptedPods map too big)/

/** Source: kubernetes pkg/registry/core/pod/storage/eviction.go; the answers of a real server are in the tests. */
const answerOf = (error: ApiException<unknown>): Eviction | undefined => {
  const causes = causesOf(error.body)
  const said = text(parsed(error.body).message)
  const of = (reason: string): Cause | undefined => causes.find(cause => cause.reason === reason)
  const retryAfterMs = retryAfterOf(error)
  switch (error.code) {
    case 404:
      return { outcome: 'gone' }
    case 429: {
      const budget = of('DisruptionBudget')
      return budget
        ? { outcome: 'waits', because: 'budget', says: budget.message || said, retryAfterMs }
        : { outcome: 'waits', because: 'busy', says: said || 'too many requests', retryAfterMs }
    }
    case 403:
      // A refusal of the role has no cause and stays an error: nobody waits that away.
      return of('NamespaceTerminating')
        ? { outcome: 'waits', because: 'namespace', says: said, retryAfterMs }
        : brokenBudget.test(said)
          ? { outcome: 'never', says: said }
          : undefined
    case 500:
      return /more than one PodDisruptionBudget/.test(said) ? { outcome: 'never', says: said } : undefined
    default:
      return undefined
  }
}

type Target = { namespace: string; name: string; uid: string }

/** The uid did not match, or the Pod was written at that moment: only a look tells. */
const afterConflict = async (kube: Kube, { namespace, name, uid }: Target): Promise<Eviction> => {
  const now = await callUnless(kube, [404], `read Pod ${namespace}/${name}`, () =>
    kube.core.readNamespacedPod({ namespace, name }),
  )
  return now?.metadata?.uid === uid
    ? {
        outcome: 'waits',
        because: 'busy',
        says: 'the Pod was changed at that moment',
        retryAfterMs: undefined,
      }
    : { outcome: 'gone' }
}

/** One request; nothing is repeated here. @throws Refused, Unreachable or Failed for what is no answer to an eviction */
export const evict = async (kube: Kube, pod: Target, guard?: Guard): Promise<Eviction> => {
  const { namespace, name } = pod
  await guard?.()
  const answered = await call(kube, `evict Pod ${namespace}/${name}`, async () => {
    try {
      await kube.core.createNamespacedPodEviction({ namespace, name, body: evictionBody(pod) })
      return { outcome: 'accepted' } as const
    } catch (error) {
      if (!(error instanceof ApiException)) throw error
      if (problemOf(error).status === 409) return 'conflict' as const
      const answer = answerOf(error)
      if (answer === undefined) throw error
      return answer
    }
  })
  return answered === 'conflict' ? afterConflict(kube, pod) : answered
}
