import type { CauseCode } from '../../../src/core/diagnosis/cause.js'
import type { Weight } from '../../../src/core/explain/rule.js'
import { addressesRules } from '../../../src/core/explain/rules/addresses.js'
import { readCase } from '../../../src/core/report/read-case.js'

export interface Case {
  environment?: Record<string, string>
  inputs: Record<string, unknown>
}

/** One rule: what it must see, how much it says, and a look-alike in which it must not say the same. */
export interface Row {
  rule: string
  id: string
  seen: Case
  cause: CauseCode
  weight: Weight
  way?: string
  alike: Case
}

export const event = (message: string, reason = 'FailedCreatePodSandBox'): Record<string, unknown> => ({
  reason,
  object: 'pod/api-1',
  message,
})

/** As containerd tells host-local's answer. */
export const exhausted = (range = '10.244.7.1-10.244.7.254', index = 0): Record<string, unknown> =>
  event(
    `failed to setup network for sandbox "4d9f": plugin type="bridge" failed (add): failed to allocate for range ${index}: no IP addresses available in range set: ${range}`,
  )

export const store = (count: number, over: Record<string, unknown> = {}): Record<string, unknown> => ({
  plugin: 'host-local',
  subnet: '10.244.7.0/24',
  count,
  ...over,
})

export const sandboxes = (ready: number, notReady = 0, hostNetwork = 2): Record<string, number> => ({
  ready,
  not_ready: notReady,
  host_network: hostNetwork,
})

/** The weights with which a rule speaks for a cause in a report. */
export const said = (
  { rule, cause }: Pick<Row, 'rule' | 'cause'>,
  seen: Case,
): { way: string; weight: Weight }[] => {
  const found = addressesRules.find(({ name }) => name === rule)
  if (!found) throw new Error(`no rule is called ${rule}`)
  return found
    .read(readCase(seen))
    .filter(each => each.cause === cause)
    .flatMap(each => each.for.map(({ weight }) => ({ way: each.way ?? '', weight })))
}
