import { readFileSync } from 'node:fs'
import type { CauseCode } from '../../../../src/core/diagnosis/cause.js'

export interface KnownMessage {
  id: string
  /** add-failure, del-failure, other. */
  failure: string
  code: string
  sample: string
}

/** The real messages that were collected, each with the code that people gave it. */
export const knownMessages: KnownMessage[] = readFileSync('test/fixtures/messages.tsv', 'utf8')
  .trimEnd()
  .split('\n')
  .slice(1)
  .map(line => {
    const [id = '', , , failure = '', code = '', sample = ''] = line.split('\t')
    return { id, failure, code, sample }
  })

const full: CauseCode[] = ['ipam-full-no-leak', 'ipam-leak']
const agent: CauseCode[] = ['cni-agent-down']

/** By code where an ADD failed or nothing was called. */
const causes: Record<string, CauseCode[]> = {
  IPAM_EXHAUSTED_HOSTLOCAL: ['ipam-leak', 'ipam-full-no-leak'],
  IPAM_EXHAUSTED_WHEREABOUTS: ['ipam-leak', 'ipam-full-no-leak'],
  IPAM_REQUESTED_IP_TAKEN: ['ipam-leak', 'other'],
  IPAM_DUPLICATE_ALLOCATION: ['ipam-leak', 'other'],
  IPAM_EXHAUSTED_AWS: full,
  IPAM_EXHAUSTED_CALICO: full,
  IPAM_EXHAUSTED_CILIUM: full,
  IPAM_EXHAUSTED_AZURE: full,
  CNI_CONF_MISSING: ['cni-config-missing', 'cni-agent-down'],
  CNI_CONF_INVALID: ['cni-config-wrong'],
  PLUGIN_CONFIG: ['cni-config-wrong'],
  MULTUS_CONFIG: ['cni-config-wrong'],
  CNI_BIN_MISSING: ['cni-plugin-missing', 'cni-config-wrong'],
  CNI_BIN_EXEC: ['cni-plugin-missing'],
  CNI_AGENT_DOWN_FLANNEL: ['cni-agent-down', 'cni-config-wrong'],
  CNI_AGENT_DOWN_CILIUM: agent,
  CNI_AGENT_DOWN_MULTUS: agent,
  CNI_AGENT_DOWN_OVNK: agent,
  CNI_AGENT_DOWN_WEAVE: agent,
  CNI_AGENT_DOWN_AWS: agent,
  CNI_AGENT_AUTH: ['cni-auth'],
  DISK_FULL: ['node-pressure'],
  CNI_TIMEOUT: ['runtime-error', 'cni-agent-down'],
  SANDBOX_NAME_RESERVED: ['sandbox-name-conflict', 'runtime-error'],
  OCI_RUNTIME: ['runtime-error'],
  NETNS_GONE: ['runtime-error'],
  PAUSE_IMAGE_PULL: ['image-pull'],
  BRIDGE_ADDR_MISMATCH: ['dataplane-stale', 'cni-config-wrong'],
  BRIDGE_RACE: ['other'],
  KERNEL_PERMISSION: ['other'],
  SYMPTOM_ONLY: [],
  NOT_AN_ERROR: [],
  MULTILINE_HEADER: [],
  CNI_CACHE_MISSING_HARMLESS: [],
}
/** By code where a DEL failed. */
const onDel: Record<string, CauseCode[]> = {
  NETNS_GONE: ['cni-del-failing', 'runtime-error'],
  PLUGIN_CRASH: ['cni-del-failing', 'runtime-error'],
  PLUGIN_KILLED: ['cni-del-failing', 'runtime-error', 'cni-agent-down'],
  PLUGIN_CONFIG: ['cni-config-wrong', 'cni-del-failing'],
  CNI_BIN_MISSING: ['cni-plugin-missing', 'cni-del-failing', 'cni-config-wrong'],
  CNI_AGENT_ERROR: ['cni-del-failing', 'cni-agent-down'],
  CNI_AGENT_DOWN: ['cni-agent-down', 'cni-del-failing'],
  CNI_AGENT_AUTH: ['cni-auth', 'cni-del-failing'],
  CNI_CONF_MISSING: ['cni-config-missing', 'cni-agent-down', 'cni-del-failing'],
  CNI_CACHE_CORRUPT: ['cni-del-failing'],
  MULTUS_CACHE_CORRUPT: ['cni-del-failing'],
  FLANNEL_SCRATCH_CORRUPT: ['cni-del-failing', 'ipam-leak'],
  CNI_TIMEOUT: ['cni-del-failing', 'cni-agent-down', 'runtime-error'],
  IPTABLES_FAIL: ['cni-del-failing', 'dataplane-stale'],
  IPAM_DEL_NOT_FOUND: ['cni-del-failing'],
  DEL_IGNORED: ['ipam-leak'],
}
/** A rollback leaves addresses behind; a namespace that could not be found is only warned of. */
const ofOne: Record<string, CauseCode[]> = {
  D14: ['ipam-leak', 'cni-del-failing', 'cni-agent-down'],
  D34: ['ipam-leak', 'runtime-error'],
  N43: ['runtime-error', 'ipam-leak'],
}

export const causesOf = ({ id, failure, code }: KnownMessage): CauseCode[] | undefined =>
  ofOne[id] ?? (failure === 'del-failure' ? onDel : causes)[code]

export const operationOf = ({ failure }: KnownMessage): string | undefined =>
  failure === 'add-failure' ? 'add' : failure === 'del-failure' ? 'del' : undefined
