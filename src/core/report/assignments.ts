import { once } from './once.js'
import type { CommandSeen, Report } from './report.js'

/** One address as an address manager's own listing has it. */
export interface Assignment {
  /** An address, or the offset in its pool where the listing has no more. */
  key: string
  /** `namespace/name`, or the name alone where no namespace stands beside it. */
  pod: string
}

const lists =
  /ipam|ippool|ip-?pool|allocation|reservation|\benis?\b|introspect|--all-addresses|ciliumnode|cni\/networks/i
const key =
  /\b(?:IP|address)["']?[:=]?\s{1,3}["']?(\d{1,3}(?:\.\d{1,3}){3})|["'[](\d{1,3}(?:\.\d{1,3}){3}|\d{1,6})["']?\s{0,2}[:,]|^\s{0,12}(\d{1,3}(?:\.\d{1,3}){3})\b/
const whole =
  /(?:pod-?ref["']?\s{0,2}[:=,]\s{0,2}["']?|["(\s])([a-z0-9][a-z0-9-]{0,62}\/[a-z0-9][a-z0-9.-]{1,252})(?=["),\s]|$)/i
const bare =
  /(?:^|[\s"'{,])(?:k8sPodName|pod(?:Name)?)["']?\s{0,3}[:=]\s{0,3}["']?([a-z0-9][a-z0-9.-]{1,252})/i

const readListing = ({ cmd, output }: CommandSeen): Assignment[] => {
  if (!lists.test(cmd.slice(0, 2_000))) return []
  const found: Assignment[] = []
  let current: string | undefined
  for (const line of output.slice(0, 5_000)) {
    const text = line.slice(0, 1_000)
    const seen = key.exec(text)
    current = seen?.[1] ?? seen?.[2] ?? seen?.[3] ?? current
    const pod = whole.exec(text)?.[1] ?? bare.exec(text)?.[1]
    if (current !== undefined && pod !== undefined) found.push({ key: current, pod })
  }
  return found
}

/** What address managers list: calicoctl ipam show, the IPPool of whereabouts, ipamd's introspection, cilium status. */
export const assignmentsOf = once((report: Report): Assignment[] => {
  const all = report.commands.flatMap(readListing)
  return [...new Map(all.map(each => [`${each.key} ${each.pod}`, each])).values()]
})
