import type { Journal } from './journal.js'
import type { SandboxPod } from './model.js'

const metadata = (pod: SandboxPod): string =>
  `&PodSandboxMetadata{Name:${pod.name},Uid:${pod.uid},Namespace:${pod.namespace},Attempt:${pod.attempt ?? 0},}`

/** containerd's lines about one sandbox's life; texts as captured from 1.6 and 2.1. */
export const runtimeLines = (journal: Journal) => ({
  run: (time: number, pod: SandboxPod) =>
    journal.containerd(time, 'info', `RunPodSandbox for ${metadata(pod)}`),
  runDone: (time: number, pod: SandboxPod, id: string) =>
    journal.containerd(time, 'info', `RunPodSandbox for ${metadata(pod)} returns sandbox id "${id}"`),
  runFailed: (time: number, pod: SandboxPod, error: string) =>
    journal.containerd(time, 'error', `RunPodSandbox for ${metadata(pod)} failed, error`, error),
  rollbackFailed: (time: number, id: string, error: string) =>
    journal.containerd(time, 'error', `Failed to destroy network for sandbox "${id}"`, error),
  stop: (time: number, id: string) => journal.containerd(time, 'info', `StopPodSandbox for "${id}"`),
  stopDone: (time: number, id: string) => {
    journal.containerd(time, 'info', `TearDown network for sandbox "${id}" successfully`)
    journal.containerd(time, 'info', `StopPodSandbox for "${id}" returns successfully`)
  },
  stopFailed: (time: number, id: string, error: string) =>
    journal.containerd(time, 'error', `StopPodSandbox for "${id}" failed`, error),
})

/** The kubelet's four lines for one failed attempt to make a sandbox. */
export const kubeletRunFailed = (journal: Journal, time: number, pod: SandboxPod, error: string): void => {
  const full = `${pod.name}_${pod.namespace}(${pod.uid})`
  const quoted = JSON.stringify(error)
  const where = `pod="${pod.namespace}/${pod.name}"`
  const line = (place: string, text: string) => journal.kubelet(time, 'E', place, text)
  line('remote_runtime.go:237', `"RunPodSandbox from runtime service failed" err=${quoted}`)
  line('kuberuntime_sandbox.go:70', `"Failed to create sandbox for pod" err=${quoted} ${where}`)
  line('kuberuntime_manager.go:1614', `"CreatePodSandbox for pod failed" err=${quoted} ${where}`)
  const inner = JSON.stringify(`Failed to create sandbox for pod "${full}": ${error}`)
  const outer = `failed to "CreatePodSandbox" for "${full}" with CreatePodSandboxError: ${inner}`
  line(
    'pod_workers.go:1324',
    `"Error syncing pod, skipping" err=${JSON.stringify(outer)} ${where} podUID="${pod.uid}"`,
  )
}

/** The kubelet's three lines for a sandbox that could not be torn down. */
export const kubeletStopFailed = (
  journal: Journal,
  time: number,
  sandbox: { id: string; pod: SandboxPod },
  error: string,
): void => {
  const { id, pod } = sandbox
  const line = (place: string, text: string) => journal.kubelet(time, 'E', place, text)
  line(
    'remote_runtime.go:267',
    `"StopPodSandbox from runtime service failed" err=${JSON.stringify(error)} podSandboxID="${id}"`,
  )
  line(
    'kuberuntime_manager.go:1967',
    `"Failed to stop sandbox" podSandboxID={"Type":"containerd","ID":"${id}"}`,
  )
  const outer = `error killing terminating pod: ${killFailure(pod.uid, error)}`
  line(
    'pod_workers.go:1324',
    `"Error syncing pod, skipping" err=${JSON.stringify(outer)} pod="${pod.namespace}/${pod.name}" podUID="${pod.uid}"`,
  )
}

/** The part that the event FailedKillPod and the kubelet's journal have in common. */
export const killFailure = (uid: string, error: string): string =>
  `failed to "KillPodSandbox" for "${uid}" with KillPodSandboxError: ${JSON.stringify(error)}`

/** Ways in which a DEL is known to fail, by the name the lab uses. */
export const delFailures = {
  'empty-cache': (network: string) =>
    `failed to get network "${network}" cached result: decoding version from network config: unexpected end of JSON input`,
  iptables: () =>
    'plugin type="portmap" failed (delete): could not teardown ipv4 dnat: running [/usr/sbin/iptables -t nat -F CNI-DN-xxxxxxxx --wait]: exit status 4: Another app is currently holding the xtables lock',
  'missing-plugin': () =>
    'plugin type="portmap" failed (delete): failed to find plugin "portmap" in path [/usr/lib/cni]',
} as const

export type DelFailure = keyof typeof delFailures
