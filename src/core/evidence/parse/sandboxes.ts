import { z } from 'zod'
import { known, unknown, type Answer, type Runtime, type Sandbox } from '../bundle.js'
import { readSeconds, type Section } from './frames.js'
import { whyFailed } from './section.js'
import { plain, readJson, readList } from './text.js'

const pods = z.object({ items: z.array(z.unknown()).nullish() })
const pod = z.object({
  id: z.string().regex(/^[0-9a-zA-Z_.-]{1,128}$/),
  metadata: z
    .object({
      name: z.string().default(''),
      namespace: z.string().default(''),
      uid: z.string().default(''),
      attempt: z.number().default(0),
    })
    .default({ name: '', namespace: '', uid: '', attempt: 0 }),
  state: z.string().default('SANDBOX_NOTREADY'),
  createdAt: z.union([z.string(), z.number()]).default('0'),
})

/** Nanoseconds as text. containerd prints a year of 1754 for a sandbox it lost while making it: no time at all. */
const createdAt = (nanoseconds: string | number): number | undefined => {
  if (!/^-?\d{1,20}$/.test(String(nanoseconds))) return undefined
  const ms = Number(BigInt(nanoseconds) / 1_000_000n)
  return ms > 1_000_000_000_000 ? ms : undefined
}

/** `crictl pods -o json`, every state: a NotReady sandbox may still own its address. */
export const readSandboxes = (section: Section, at: number): Answer<Sandbox[]> => {
  if (section.code !== 0) return unknown(whyFailed('crictl pods', section), at)
  const read = pods.safeParse(readJson(section.body))
  const list = read.success ? readList(pod, read.data.items ?? []) : undefined
  if (list === undefined) {
    return unknown('crictl pods -o json: the answer is no list of sandboxes; run it on the node and look', at)
  }
  // An id is one sandbox, however often it is named: counted twice, a lost one could hide behind it.
  const once = [...new Map(list.map(each => [each.id, each])).values()]
  return known(
    once.map(({ id, metadata, state, createdAt: created }) => ({
      id,
      namespace: plain(metadata.namespace, 253),
      pod: plain(metadata.name, 253),
      podUid: plain(metadata.uid, 128),
      attempt: metadata.attempt,
      state: state === 'SANDBOX_READY' ? 'ready' : 'notready',
      createdAt: createdAt(created),
    })),
    at,
  )
}

/** `endpoint …`, `from …`, then what `crictl version` prints; the start time comes from systemd. */
export const readRuntime = (section: Section, startedAt: number | undefined, at: number): Answer<Runtime> => {
  const field = (pattern: RegExp): string => plain(pattern.exec(section.body)?.[1] ?? '', 300)
  const endpoint = field(/^endpoint (.*)$/m)
  const asked = endpoint === '' ? 'the container runtime' : `crictl version at ${endpoint}`
  if (section.code !== 0) return unknown(whyFailed(asked, section), at)
  const name = field(/^RuntimeName:\s*(\S+)/m)
  const version = field(/^RuntimeVersion:\s*(\S+)/m).replace(/^v/, '')
  if (name === '' || version === '')
    return unknown(`${asked}: the answer names no runtime; run it on the node`, at)
  return known({ name, version, endpoint, endpointFrom: field(/^from (.*)$/m), startedAt }, at)
}

/** Units that are the runtime, or run it inside themselves. */
export const runtimeUnits =
  /^(?:containerd|crio|cri-docker|k3s|k3s-agent|rke2-server|rke2-agent|k0sworker|k0scontroller|snap\.microk8s\.daemon-containerd)$/
/** Units that are the kubelet, or run it inside themselves. */
export const kubeletUnits =
  /^(?:kubelet|k3s|k3s-agent|rke2-server|rke2-agent|k0sworker|k0scontroller|snap\.microk8s\.daemon-kubelite)$/

/** `unit ExecMainStartTimestamp=@…` or, from an older systemd, `=Mon 2026-11-30 15:23:28 UTC`. */
export const readUnitStarts = (body: string): { unit: string; at: number }[] =>
  [...body.matchAll(/^(\S+) ExecMainStartTimestamp=(.+)$/gm)].flatMap(([, unit = '', time = '']) => {
    const dated = /(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)/.exec(time)
    const at = time.startsWith('@')
      ? readSeconds(time)
      : dated === null
        ? undefined
        : Date.parse(`${dated[1]}T${dated[2]}Z`)
    return at === undefined || at === 0 ? [] : [{ unit, at }]
  })
