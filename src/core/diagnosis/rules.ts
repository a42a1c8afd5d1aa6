import { addressRules } from './address-rules.js'
import type { Facts } from './facts.js'
import type { Finding, FindingName } from './finding.js'
import { pluginRules } from './plugin-rules.js'

/** Every rule on one set of facts. No finding is one too: that nothing was found. */
export const findingsOf = (facts: Facts): Finding[] => {
  const found = [...pluginRules, ...addressRules]
    .map(rule => rule(facts))
    .filter(finding => finding !== undefined)
  return found.length > 0 ? found : [nothingFound(facts)]
}

const nothingFound = ({ bundle }: Facts): Finding => ({
  name: 'nothing-found',
  says: `Nothing speaks against ${bundle.node} giving new Pods an address.`,
  evidence: [],
})

export const has = (findings: readonly Finding[], name: FindingName): boolean =>
  findings.some(finding => finding.name === name)
