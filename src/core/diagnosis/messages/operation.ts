import type { CniOperation } from './message-rule.js'

/** How the callers of plugins name what they were doing. */
const marks =
  /(failed \(add\)|failed to set ?up|runpodsandbox|create ?pod ?sandbox|create (?:a )?(?:pod )?(?:network )?sandbox|delegate ?add|conflistadd|error adding|add cmd|cmdadd|setupnetwork|invoker add|add ip internal|cni\.setup|network namespace for container|failed to allocate)|(failed \(del(?:ete)?\)|failed to destroy network|teardown|tear down|failed to clean up sandbox|stoppodsandbox|removepodsandbox|killpodsandbox|failed to (?:forcibly )?stop sandbox|(?:stopping|removing) the pod sandbox|error (?:deleting|removing)|error while removing|delegatedel|conflistdel|delnetwork|del cmd|network on cleanup)|(failed \(check\)|checknetworklist|error checking network)|(failed \(status\)|networkready=|network plugin is not ready|container runtime network not ready)/g

const operations: CniOperation[] = ['add', 'del', 'check', 'status']

interface Mark {
  at: number
  operation: CniOperation
}

const marksIn = (lower: string): Mark[] =>
  [...lower.matchAll(marks)].map(match => ({
    at: match.index,
    operation: operations[match.slice(1).findIndex(group => group !== undefined)] ?? 'none',
  }))

/** What was being done where the text at `at` stands: the nearest words before it, else the first after it. */
export const operationAt = (lower: string, at: number): CniOperation => {
  const found = marksIn(lower)
  return (found.findLast(mark => mark.at <= at) ?? found[0])?.operation ?? 'none'
}

/**
 * Whether the text is about a plugin's call: the words of runtimes and of libcni around it. Other texts use the same
 * inner words (Unauthorized, connection refused) for other trouble.
 */
export const isAboutCni = (lower: string): boolean =>
  /failed \((?:add|del|delete|check|status)\)|network for (?:pod )?sandbox|network for pod|set ?up pod|teardown pod|network teardown|destroy network|from (?:cni )?network|to cni network|from runtime service failed|(?:create|failed) (?:a )?(?:pod )?(?:network )?sandbox|createpodsandbox|killpodsandbox|runpodsandbox|stoppodsandbox|network plugin|networkplugin|delegate(?:add|del)|conflist|\bcni\b|clusterinformation|network namespace|to network:/.test(
    lower,
  )
