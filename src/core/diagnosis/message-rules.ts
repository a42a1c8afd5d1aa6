/**
 * What kind of trouble a message tells of. `exhausted` is host-local's alone; `other-ipam` is every other address
 * manager's own trouble; `plugin-missing`, `plugin-cannot-run`, `config-missing`, `config-invalid`, `agent-down` and
 * `runtime-down` mean that no plugin answered.
 */
export type CniMessageKind =
  | 'exhausted'
  | 'other-ipam'
  | 'plugin-missing'
  | 'plugin-cannot-run'
  | 'config-missing'
  | 'config-invalid'
  | 'agent-down'
  | 'agent-refused'
  | 'runtime-down'
  | 'runtime-error'
  | 'disk-full'
  | 'dataplane'
  | 'cache-corrupt'
  | 'timeout'
  | 'name-reserved'
  | 'image'
  | 'symptom-only'
  | 'other'

export type Rule = [fragment: RegExp, code: string, kind: Exclude<CniMessageKind, 'exhausted'>, says: string]

/**
 * Inner errors before their wrappers: the first rule that matches wins. Fragments are the stable parts of the wordings
 * of libcni, the reference plugins, the agents and the runtimes; line numbers, quoting depth and prefixes are not.
 */
export const messageRules: Rule[] = [
  [
    /duplicate allocation is not allowed/,
    'IPAM_DUPLICATE_ALLOCATION',
    'other-ipam',
    'The same owner asked twice without giving back; the range is not full.',
  ],
  [
    /requested IP address \S+ is not available in range set/,
    'IPAM_REQUESTED_IP_TAKEN',
    'other-ipam',
    'A fixed address was asked for that another owner holds.',
  ],
  [
    /failed to assign an IP address to container/,
    'IPAM_EXHAUSTED_AWS',
    'other-ipam',
    'The AWS address manager has none to give: subnet, interface or warm pool.',
  ],
  [
    /Assigned 0 out of \d+ requested IPv|No more free affine blocks|limit of \d+ blocks|pools are likely exhausted/i,
    'IPAM_EXHAUSTED_CALICO',
    'other-ipam',
    "Calico's address pool has none to give.",
  ],
  [
    /postIpamFailure|range is full|No more IPs available/,
    'IPAM_EXHAUSTED_CILIUM',
    'other-ipam',
    "Cilium's address range has none to give.",
  ],
  [
    /Could not allocate IP in range/,
    'IPAM_EXHAUSTED_WHEREABOUTS',
    'other-ipam',
    'The whereabouts pool has none to give.',
  ],
  [
    /No available address(es| pools)|not enough IPs available/,
    'IPAM_EXHAUSTED_AZURE',
    'other-ipam',
    'The Azure address manager has none to give.',
  ],
  [/no space left on device/, 'DISK_FULL', 'disk-full', 'The disk is full: a plugin cannot write its state.'],
  [
    /read-only file system/,
    'STORE_READ_ONLY',
    'disk-full',
    "The plugin's store lies on a read-only filesystem.",
  ],
  [
    /Multus: (\[[^\]]*\]: )?failed to load netconf/,
    'MULTUS_CACHE_CORRUPT',
    'cache-corrupt',
    "Multus' own note of this sandbox is damaged.",
  ],
  [
    /failed to parse netconf: unexpected end of JSON/,
    'FLANNEL_SCRATCH_CORRUPT',
    'cache-corrupt',
    "Flannel's own note of this sandbox is damaged.",
  ],
  [
    /cached result: .*(unexpected end of JSON input|decoding version)/,
    'CNI_CACHE_CORRUPT',
    'cache-corrupt',
    "libcni's result cache holds a damaged entry.",
  ],
  [
    /subnet\.env: no such file/,
    'CNI_AGENT_DOWN_FLANNEL',
    'agent-down',
    'Flannel has not written its subnet file: its agent is not up on this node.',
  ],
  [
    /unable to connect to Cilium (agent|daemon)|cilium\.sock/i,
    'CNI_AGENT_DOWN_CILIUM',
    'agent-down',
    'The Cilium agent on this node does not answer.',
  ],
  [
    /127\.0\.0\.1:6784/,
    'CNI_AGENT_DOWN_WEAVE',
    'agent-down',
    'The Weave agent on this node does not answer.',
  ],
  [
    /127\.0\.0\.1:50051|AddNetwork gRPC call: rpc error: code = Unavailable/,
    'CNI_AGENT_DOWN_AWS',
    'agent-down',
    'The AWS node agent does not answer.',
  ],
  [
    /failed to get pod annotation|timed out waiting for OVS port binding/,
    'CNI_AGENT_DOWN_OVNK',
    'agent-down',
    'The OVN-Kubernetes agent has not set this Pod up.',
  ],
  [
    /readinessindicatorfile/i,
    'CNI_AGENT_DOWN_MULTUS',
    'agent-down',
    'Multus waits for the default network to become ready.',
  ],
  [
    /failed to find plugin \\*["'][^"']*["'] in path/,
    'CNI_BIN_MISSING',
    'plugin-missing',
    'The runtime cannot find a plugin binary that the configuration names.',
  ],
  [
    /executable file not found in \$PATH/,
    'HOST_TOOL_MISSING',
    'plugin-missing',
    'A program that a plugin calls is not installed on the node.',
  ],
  [
    /fork\/exec \S+: |exec format error|text file busy/,
    'CNI_BIN_EXEC',
    'plugin-cannot-run',
    'A plugin binary is there but cannot be executed.',
  ],
  [
    /Error validating CNI config|no valid networks found|incompatible CNI versions|error parsing configuration|invalid character .* looking for/,
    'CNI_CONF_INVALID',
    'config-invalid',
    'The network configuration on the node is not valid.',
  ],
  [
    /error in getting k8s network for pod|CNI request failed with status 400/,
    'MULTUS_CONFIG',
    'config-invalid',
    'Multus refused: a network it was asked for is not defined or not valid.',
  ],
  [
    /cni config uninitialized|cni plugin not initialized|cni config not initialized|no CNI configuration file in|No networks found in|network is not ready|no network config found/i,
    'CNI_CONF_MISSING',
    'config-missing',
    'The runtime has no network configuration.',
  ],
  [
    /multus\.sock|multus-cni.*(connection refused|no such file)|dummy\/cni/,
    'CNI_AGENT_DOWN_MULTUS',
    'agent-down',
    'The Multus daemon on this node does not answer.',
  ],
  [
    /connection is unauthorized|Unauthorized|Forbidden/,
    'CNI_AGENT_AUTH',
    'agent-refused',
    "The plugin's credential is refused.",
  ],
  [
    /Statfs .*ns\/net|cannot find network namespace for the terminated container/,
    'NETNS_GONE',
    'runtime-error',
    "The sandbox's process ended while its network was being made.",
  ],
  [
    /already has an IP address different from/,
    'BRIDGE_ADDR_MISMATCH',
    'dataplane',
    'The bridge still carries an address of an earlier range.',
  ],
  [
    /could not add IP address to .*: file exists/,
    'BRIDGE_RACE',
    'dataplane',
    'Two ADDs set the bridge up at once (plugins before 0.8.2).',
  ],
  [
    /could not add IP address to .*permission denied/,
    'KERNEL_PERMISSION',
    'dataplane',
    'The kernel refused to set the address: permission denied.',
  ],
  [
    /iptables.*(exit status \d|Couldn't load target)|Couldn't load target|Another app is currently holding the xtables lock/,
    'IPTABLES_FAIL',
    'dataplane',
    'iptables failed on the node.',
  ],
  [
    /failed to get sandbox image|failed pulling image|failed to pull image/,
    'PAUSE_IMAGE_PULL',
    'image',
    'The sandbox image cannot be pulled.',
  ],
  [
    /OCI runtime create failed|failed to create (containerd task|shim task)|failed to start sandbox container|cgroupsPath/,
    'OCI_RUNTIME',
    'runtime-error',
    'The low-level runtime could not start the sandbox; its network was made before that.',
  ],
  [
    /failed to reserve sandbox name|name .* is reserved|not yet finished.*Waiting up to|container name .* (is )?already in use/,
    'SANDBOX_NAME_RESERVED',
    'name-reserved',
    'An earlier attempt still holds the sandbox name.',
  ],
  [
    /code = Unavailable|connection refused|connection reset by peer|containerd\.sock: .*no such file|crio\.sock: .*no such file|error reading from server: EOF/,
    'RUNTIME_DOWN',
    'runtime-down',
    'The container runtime did not answer the kubelet.',
  ],
  [
    /DeadlineExceeded|context deadline exceeded|signal: killed|context canceled|operation timeout/,
    'CNI_TIMEOUT',
    'timeout',
    'Making the sandbox took too long and was given up.',
  ],
  [
    /Pod sandbox changed, it will be killed/,
    'SYMPTOM_ONLY',
    'symptom-only',
    'The kubelet makes the sandbox anew; why is in an earlier message.',
  ],
]
