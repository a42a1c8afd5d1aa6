import type { PlainText } from './plain-text.js'

/** Who wrote the line. */
export type Component =
  | 'kubelet'
  | 'containerd'
  | 'cri-o'
  | 'cri-dockerd'
  | 'docker'
  | 'crictl'
  | 'ctr'
  | 'nerdctl'
  | 'podman'
  | 'plugin'
  | 'agent'
  | 'scheduler'
  | 'controller'
  | 'kubectl'

/** Whose code called the plugin. */
export type Caller = 'kubelet' | 'dockershim' | 'containerd' | 'cri-o' | 'other'

/**
 * When: `kubelet` up to 1.6, where it called plugins itself; `dockershim` to 1.23 (and cri-dockerd since); `cri` for
 * containerd and CRI-O. libcni 1.0 and later name the plugin's type and the operation.
 */
export interface Era {
  calls: 'kubelet' | 'dockershim' | 'cri' | undefined
  libcni: 'before-1.0' | 'since-1.0' | undefined
}

export interface Origin {
  component: Component | undefined
  caller: Caller | undefined
  era: Era
}

const programs: [pattern: RegExp, component: Component][] = [
  [/^(?:kubelet|k3s|k3s-agent|rke2|microk8s\.daemon-kubelite|kubelite|hyperkube)/, 'kubelet'],
  [/^containerd/, 'containerd'],
  [/^crio|^cri-o/, 'cri-o'],
  [/^cri-docker/, 'cri-dockerd'],
  [/^docker/, 'docker'],
  [/^kube-scheduler/, 'scheduler'],
  [/^kube-controller/, 'controller'],
  [/^calico|^flannel|^cilium|^weave|^aws-|^antrea|^multus|^ovn/, 'agent'],
]

/** Without a program's name the wording tells: each of these is one program's alone. */
const wordings: [pattern: RegExp, component: Component][] = [
  [/^ctr: /, 'ctr'],
  [/error running hook #\d{1,3}|failed to call cni\.setup/, 'nerdctl'],
  [/^error: unable to start container|error configuring network namespace/, 'podman'],
  [/^\{"code": ?\d/, 'plugin'],
  [
    /^(?:stopping|removing) the pod sandbox|run pod sandbox: |runtime connect using default endpoints|^failed to stop sandbox before removing: /,
    'crictl',
  ],
  [
    /podsandbox for (?:&podsandboxmetadata|")|^failed to destroy network for sandbox|^teardown network for sandbox/,
    'containerd',
  ],
  [
    /^error (?:stopping network on cleanup|reserving (?:pod|ctr) name|loading cached network config)|^failed to destroy network for pod sandbox|^creation of sandbox |^ran pod sandbox/,
    'cri-o',
  ],
  [/nodes are available/, 'scheduler'],
  [/unable to drain node|^cannot delete (?:pods|daemonset)/, 'kubectl'],
  [/multi-attach error|attachvolume\./, 'controller'],
  [
    /from runtime service failed|error syncing pod|failed (?:to )?create (?:a )?pod sandbox|createpodsandbox|killpodsandbox|runtime network not ready|network is not ready|failed to (?:setup|teardown) network for pod|unable to update cni config|^error (?:deleting|adding) (?:network|\S{1,300} from network)|^failed to stop sandbox \{|pod sandbox changed|sandbox for pod can be found|mountvolume\.|unmounted volumes|probe (?:failed|errored)|back-?off |failed to pull image|pleg /,
    'kubelet',
  ],
]

const componentOf = ({ program, lower, shape }: PlainText): Component | undefined =>
  programs.find(([pattern]) => program !== undefined && pattern.test(program))?.[1] ??
  (shape === 'agent' ? 'agent' : wordings.find(([pattern]) => pattern.test(lower))?.[1])

const callerOf = (lower: string): Caller | undefined => {
  if (/using network plugins/.test(lower)) return 'kubelet'
  if (
    /network ?plugin (?:cni|kubenet) failed|set up sandbox container|network plugin is not ready|\{"docker" |docker: network|from network [\w.-]{1,100}\//.test(
      lower,
    )
  )
    return 'dockershim'
  if (
    /pod network sandbox|to cni network|from cni network|network for pod sandbox|network teardown failed for pod sandbox|cni config uninitialized$/.test(
      lower,
    )
  )
    return 'cri-o'
  if (/network for sandbox|podsandboxmetadata|cni plugin not initialized/.test(lower)) return 'containerd'
  if (/cni\.setup|error configuring network namespace/.test(lower)) return 'other'
  return undefined
}

export const originOf = (plain: PlainText): Origin => {
  const { lower } = plain
  const component = componentOf(plain)
  const caller = callerOf(lower)
  const calls =
    caller === 'kubelet' || caller === 'dockershim'
      ? caller
      : caller === 'containerd' || caller === 'cri-o'
        ? 'cri'
        : undefined
  const libcni = /plugin type=/.test(lower)
    ? 'since-1.0'
    : caller !== undefined &&
        /failed to allocate for range|failed to find plugin|no ip addresses available/.test(lower)
      ? 'before-1.0'
      : undefined
  return { component, caller, era: { calls, libcni } }
}
