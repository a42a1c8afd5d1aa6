import type { Report } from './report.js'

const named =
  /\b(containerd|cri-?o|cri-dockerd|dockershim|docker)\b(?:\.io)?[^\d\n]{0,48}?v?(\d{1,3}\.\d{1,3}(?:\.\d{1,3})?)/i
const url = /\b(containerd|cri-o|docker):\/\/v?(\d{1,3}\.\d{1,3}(?:\.\d{1,3})?)/

/**
 * The runtime and its version: as told, else as `kubectl get nodes -o wide` and `containerd --version` print it. A patch number that was
 * not told stays away: a series is no release. Undefined where no version is known.
 */
export const runtimeSeen = (report: Report): { name: string; version: string } | undefined => {
  const told = report.environment.get('runtime') ?? ''
  const printed = report.commands
    .filter(({ cmd }) => /containerd|crio|crictl|docker|nodes?\b/.test(cmd.slice(0, 400)))
    .flatMap(({ output }) => output.slice(0, 50))
  for (const text of [told, ...printed]) {
    const match =
      url.exec(text.slice(0, 1_000)) ??
      (text === told || /version|github\.com\/containerd/i.test(text)
        ? named.exec(text.slice(0, 1_000))
        : null)
    if (match?.[1] !== undefined && match[2] !== undefined)
      return { name: match[1].toLowerCase().replace(/^crio$/, 'cri-o'), version: match[2] }
  }
  return undefined
}
