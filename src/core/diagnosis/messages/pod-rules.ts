import type { MessageRule } from './message-rule.js'

/** Images, containers and probes: what keeps a Pod from being ready after or before its network was made. */
export const imageRules: MessageRule[] = [
  {
    code: 'PAUSE_IMAGE_PULL',
    kind: 'image',
    when: /failed to get sandbox image|failed pulling image|failed to pull image [^\n]{0,120}\bpause|(?:sandbox|pause) image[^\n]{0,80}(?:not found|pull)/,
    causes: ['image-pull'],
    operation: 'add',
    says: 'The sandbox image cannot be pulled.',
  },
  {
    code: 'IMAGE_PULL_REFUSED',
    kind: 'image',
    when: /(?:pull|image|manifests?|registry|blobs?)[^\n]{0,600}(?:x509|unauthorized|authentication required|no basic auth credentials|pull access denied|\bdenied\b|forbidden|toomanyrequests|too many requests|rate limit)|you have reached your pull rate limit/,
    causes: ['image-pull'],
    says: 'The registry refuses the pull: credential, certificate or rate limit.',
  },
  {
    code: 'IMAGE_NOT_FOUND',
    kind: 'image',
    when: /manifest unknown|(?:repository|manifest|image)[^\n]{0,160} not found[^\n]{0,40}(?:pull|does not exist)|manifest for [^\n]{1,200} not found|pull[^\n]{0,600}: not found|no match for platform in manifest|invalidimagename|couldn't parse image|errimageneverpull/,
    causes: ['image-pull'],
    says: 'The image, its tag or its platform does not exist in the registry.',
  },
  {
    code: 'IMAGE_PULL',
    kind: 'image',
    when: /failed to pull (?:and unpack )?image|errimagepull|imagepullbackoff|back-?off pulling image|error pulling image|pullimage [^\n]{0,200}failed|failed to resolve reference|imageinspecterror|registryunavailable/,
    causes: ['image-pull'],
    says: 'An image cannot be pulled.',
  },
]

export const containerRules: MessageRule[] = [
  {
    code: 'PROBE_REFUSED',
    kind: 'container',
    when: /(?:readiness|liveness|startup) probe (?:failed|errored)[^\n]{0,400}connection refused/,
    causes: ['app-not-listening'],
    says: 'Nothing listens on the address and port that the probe asks.',
  },
  {
    code: 'PROBE_TIMEOUT',
    kind: 'container',
    when: /(?:readiness|liveness|startup) probe (?:failed|errored)[^\n]{0,400}(?:deadline exceeded|timeout|timed out|no route to host|network is unreachable)/,
    causes: ['app-not-listening', 'network-filtered', 'route-missing'],
    says: 'The probe got no answer in time.',
  },
  {
    code: 'PROBE_FAILED',
    kind: 'container',
    when: /(?:readiness|liveness|startup) probe (?:failed|errored)/,
    causes: ['other'],
    says: 'The application answers its probe with a failure.',
  },
  {
    code: 'CONTAINER_CRASHING',
    kind: 'container',
    when: /back-?off restarting failed container|crashloopbackoff/,
    causes: ['other'],
    says: 'A container crashes again and again; its own log says why.',
  },
]

const objects = '(?:configmaps?|secrets?)'

/** Volumes, and the Secrets and ConfigMaps that are mounted or read. */
export const volumeRules: MessageRule[] = [
  {
    code: 'OBJECT_MISSING',
    kind: 'object-missing',
    when: new RegExp(
      `${objects} ["'\`][^"'\`]{1,253}["'\`] (?:not found|is forbidden)|references non-?existent (?:secret|config) key|couldn't find key [^\\n]{1,253} in (?:configmap|secret)|non-existent config key|createcontainerconfigerror`,
    ),
    causes: ['secret-or-configmap-missing'],
    says: 'A Secret or ConfigMap that the Pod names, or a key in it, does not exist.',
  },
  {
    code: 'OBJECT_NOT_SYNCED',
    kind: 'volume',
    when: new RegExp(
      `failed to sync ${objects} cache|object ["'\`][^"'\`]{0,253}["'\`]/["'\`][^"'\`]{0,253}["'\`] not registered|couldn't propagate object cache`,
    ),
    causes: ['volume-mount', 'secret-or-configmap-missing'],
    says: 'The kubelet had not yet read a Secret or ConfigMap of the Pod; it tries again by itself.',
  },
  {
    code: 'VOLUME_ATTACHED_ELSEWHERE',
    kind: 'volume',
    when: /multi-attach error|already exclusively attached to one node|volume is already used by pod|requested volume [^\n]{0,120} is still (?:attached|in use)/,
    causes: ['volume-mount'],
    says: 'The volume is still attached to another node.',
  },
  {
    code: 'VOLUME_WAIT',
    kind: 'volume',
    when: /unmounted volumes=\[|unattached\/unmounted volumes|timeout expired waiting for volumes to attach/,
    causes: ['volume-mount', 'secret-or-configmap-missing'],
    says: 'The kubelet waits for volumes of the Pod; why is in the message of that volume.',
  },
  {
    code: 'VOLUME_FAIL',
    kind: 'volume',
    when: /(?:mountvolume|attachvolume|mapvolume|unmountvolume|detachvolume)\.[a-z]{1,30}[^\n]{0,40} failed for|unable to (?:attach or )?mount volumes|failed to attach volume|mount failed: (?:exit status|mount)|wrong fs type, bad option|driver name [^\n]{1,120} not found in the list of registered csi drivers|failedattachvolume|failedmapvolume|volume [^\n]{0,120}attach[a-z]{0,4} timed? ?out/,
    causes: ['volume-mount'],
    says: 'A volume cannot be attached or mounted.',
  },
]
