import type { CauseCode } from '../diagnosis/cause.js'

/** Each cause as a sentence: what is the matter. */
export const causeWords: Record<CauseCode, string> = {
  'ipam-leak': 'Addresses stay reserved although no live sandbox owns them.',
  'ipam-full-no-leak':
    'The address range is used up by Pods that live, or is smaller than what may run there.',
  'cni-config-missing': 'The runtime finds no network configuration.',
  'cni-config-wrong': 'A wrong network configuration is in effect.',
  'cni-agent-down': "The node's network agent is not running, or not ready yet.",
  'cni-plugin-missing': 'A network plugin, or a program it needs, is not installed.',
  'cni-auth': "The network plugin's credential is refused.",
  'cni-del-failing': "Tearing down Pods' networks fails, so Pods stay Terminating.",
  'runtime-error': 'The container runtime, or what it runs on, fails.',
  'sandbox-name-conflict': 'The name of an earlier attempt at this sandbox is still reserved.',
  'image-pull': 'An image cannot be pulled.',
  'volume-mount': 'A volume cannot be attached or mounted.',
  'secret-or-configmap-missing': 'A Secret or ConfigMap that the Pod names does not exist.',
  'node-not-ready': 'The node is NotReady: its kubelet or runtime is not well.',
  'node-pressure': 'The node is short of disk, memory or process ids.',
  'scheduling-blocked': 'The Pod is not placed on a node.',
  'route-missing': 'A route that is needed is missing, or shadowed by a wrong one.',
  'dataplane-stale': 'Rules, bridges or maps on a node do not match what the API says.',
  'network-filtered': 'A firewall or a policy rejects or drops the packets.',
  'mtu-mismatch': 'Only large packets fail: the MTU of the path is smaller than that of the Pod.',
  'service-no-endpoints': 'The Service has no backend.',
  'app-not-listening': 'The application does not listen on the address and port that is asked.',
  'duplicate-ip': 'Two live Pods have one address.',
  'pdb-blocked': 'A PodDisruptionBudget refuses the eviction.',
  'drain-blocked': 'The drain refuses because of Pods it may not evict.',
  other: 'What was read points at no known cause.',
}
