import type { MessageRule } from './message-rule.js'

const runtimeSocket = '(?:containerd|crio|cri-dockerd|dockershim|docker)\\.sock'

/** Limits of the machine that look like whatever happened to run into them: before every other family. */
export const limitRules: MessageRule[] = [
  {
    code: 'CGROUP_FAIL',
    kind: 'runtime-error',
    when: /\/sys\/fs\/cgroup\/[^\n]{0,300}(?:no space left on device|cannot allocate memory|no such file or directory|device or resource busy|permission denied)|failed to (?:create|load) cgroup|cgroups?: cgroup (?:deleted|mountpoint does not exist)|cgroup driver: [^\n]{0,80}is different from|misconfiguration: kubelet cgroup driver|unable to ensure pod container exists|failed to ensure that the pod: /,
    causes: ['runtime-error'],
    says: 'The control groups of the Pod could not be made.',
  },
  {
    code: 'PROCESS_LIMIT',
    kind: 'runtime-error',
    when: /pthread_create failed|fork: retry|failed to create new os thread|(?:fork|clone|exec)\b[^\n]{0,200}: (?:resource temporarily unavailable|cannot allocate memory)|too many open files|pids? limit (?:reached|exceeded)/,
    causes: ['runtime-error', 'node-pressure'],
    says: 'The node has reached a limit on processes, open files or memory.',
  },
  {
    code: 'DISK_FULL',
    kind: 'disk-full',
    when: /no space left on device|disk quota exceeded/,
    causes: ['node-pressure'],
    says: 'The disk is full: a plugin cannot write its state.',
  },
  {
    code: 'STORE_READ_ONLY',
    kind: 'disk-full',
    when: /read-only file system/,
    causes: ['node-pressure', 'runtime-error'],
    says: "The plugin's store lies on a read-only filesystem.",
  },
]

/** What the runtime could not start: the sandbox itself, or a command. Both quote what plugins' messages have as well. */
export const startRules: MessageRule[] = [
  {
    code: 'OCI_RUNTIME',
    kind: 'runtime-error',
    when: /failed to (?:start|create) (?:a |the )?sandbox container[^\n]{0,400}(?:oci runtime|runc|container_linux|prestart hook|fork\/exec)/,
    causes: ['runtime-error'],
    says: 'The runtime could not start the sandbox itself, which runs no command of the Pod.',
  },
  {
    code: 'CONTAINER_COMMAND',
    kind: 'container',
    when: /(?:unable to start container process|starting container process caused|container_linux)[^\n]{0,200}(?:executable file not found|no such file or directory|permission denied|exec format error)/,
    causes: ['other'],
    says: "A container's own command cannot be started; its network was made before.",
  },
]

/** The runtime and the tools below it. */
export const runtimeRules: MessageRule[] = [
  {
    code: 'OCI_RUNTIME',
    kind: 'runtime-error',
    when: /oci runtime (?:(?:create|exec|state|start) failed|error)|failed to create (?:containerd task|shim task|shim\b|task for sandbox)|failed to start sandbox container|runc (?:create failed|did not terminate)|container create failed|cgroupspath|runcontainererror/,
    causes: ['runtime-error'],
    says: 'The low-level runtime could not start the sandbox; its network was made before that.',
  },
  {
    code: 'SANDBOX_NAME_RESERVED',
    kind: 'name-reserved',
    when: /failed to reserve (?:sandbox|container) name|error reserving (?:pod|ctr) name|\bname is reserved\b|name [^\n]{1,300} is reserved for|not yet finished[^\n]{0,200}waiting up to|container name [^\n]{1,300} (?:is )?already in use/,
    causes: ['sandbox-name-conflict', 'runtime-error'],
    says: 'An earlier attempt still holds the sandbox name.',
  },
  {
    code: 'RUNTIME_DOWN',
    kind: 'runtime-down',
    when: new RegExp(
      `${runtimeSocket}[^\\n]{0,200}(?:connection refused|no such file|connection reset|eof|broken pipe|deadline exceeded)|code = unavailable|error reading from server: eof|container runtime is down|cannot connect to the docker daemon|container runtime status check may not have completed`,
    ),
    causes: ['runtime-error', 'node-not-ready'],
    says: 'The container runtime did not answer the kubelet.',
  },
  {
    // An ADD's own deadline kills its plugin, and the rollback runs on what is left of that deadline.
    code: 'CNI_TIMEOUT',
    kind: 'timeout',
    when: /network on cleanup[^\n]{0,900}signal: killed/,
    causes: ['ipam-leak', 'runtime-error'],
    operation: 'del',
    says: 'Making the sandbox took too long, and the teardown that followed was cut off too.',
  },
  {
    code: 'PLUGIN_KILLED',
    kind: 'timeout',
    only: 'del',
    when: /signal: killed/,
    causes: ['cni-del-failing', 'runtime-error', 'cni-agent-down'],
    says: 'A plugin was killed in the middle of a teardown: by its deadline or for want of memory.',
  },
  {
    code: 'CNI_TIMEOUT',
    kind: 'timeout',
    only: 'del',
    when: /failed to destroy network for sandbox[^\n]{0,300}netplugin failed with no error message: context|network on cleanup[^\n]{0,900}context (?:canceled|deadline exceeded)/,
    causes: ['ipam-leak', 'cni-del-failing', 'cni-agent-down'],
    says: 'The teardown had no time left, and what the plugin held may stay.',
  },
  {
    // The kubelet's own deadline for a call of the runtime; what took so long is not told.
    code: 'CNI_TIMEOUT',
    kind: 'timeout',
    when: /code = deadlineexceeded/,
    causes: ['runtime-error', 'cni-agent-down'],
    onDel: ['cni-del-failing', 'cni-agent-down', 'runtime-error'],
    says: 'The runtime did not finish within the time that the kubelet gives it.',
  },
  {
    code: 'CNI_TIMEOUT',
    kind: 'timeout',
    when: /context deadline exceeded|signal: killed|context canceled|operation timeout/,
    only: 'cni',
    causes: ['runtime-error', 'cni-agent-down'],
    onDel: ['cni-del-failing', 'cni-agent-down', 'runtime-error'],
    says: 'Making or removing the sandbox took too long and was given up.',
  },
]

/** Lines that give no reason, or that report that all is well. */
export const symptomRules: MessageRule[] = [
  {
    code: 'SYMPTOM_ONLY',
    kind: 'symptom-only',
    when: /pod sandbox changed, it will be killed/,
    causes: [],
    operation: 'none',
    says: 'The kubelet makes the sandbox anew; why is in an earlier message.',
  },
  {
    code: 'MULTILINE_HEADER',
    kind: 'symptom-only',
    when: /\berr=<\s{0,8}$/,
    causes: [],
    says: 'The reason stands in the lines after this one.',
  },
  {
    code: 'NOT_AN_ERROR',
    kind: 'harmless',
    when: /no (?:ready )?sandbox for pod can be found\. need to start a new one|teardown network for sandbox [^\n]{1,120} successfully|runtime connect using default endpoints|podsandbox [^\n]{1,200} returns (?:successfully|sandbox id)/,
    causes: [],
    says: 'The line reports ordinary work, not a failure.',
  },
]
