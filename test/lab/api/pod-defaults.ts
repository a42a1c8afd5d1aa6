import { type Container, isRecord, type PodSpec } from './shapes.js'

/** Fills what the real server fills in a Pod's or a template's spec (order of fields as in its answers). */
export const defaultPodSpec = (
  spec: PodSpec & Record<string, unknown>,
): PodSpec & Record<string, unknown> => ({
  ...spec,
  containers: (spec.containers ?? []).map(defaultContainer),
  ...(spec.initContainers === undefined ? {} : { initContainers: spec.initContainers.map(defaultContainer) }),
  restartPolicy: spec.restartPolicy ?? 'Always',
  terminationGracePeriodSeconds: spec.terminationGracePeriodSeconds ?? 30,
  dnsPolicy: spec.dnsPolicy ?? 'ClusterFirst',
  securityContext: spec.securityContext ?? {},
  schedulerName: spec.schedulerName ?? 'default-scheduler',
})

const defaultContainer = (container: Container): Container => ({
  ...container,
  ...(Array.isArray(container.ports)
    ? {
        ports: container.ports.map(port =>
          isRecord(port) ? { ...port, protocol: port.protocol ?? 'TCP' } : port,
        ),
      }
    : {}),
  resources: container.resources ?? {},
  ...probes(container),
  terminationMessagePath: container.terminationMessagePath ?? '/dev/termination-log',
  terminationMessagePolicy: container.terminationMessagePolicy ?? 'File',
  imagePullPolicy: container.imagePullPolicy ?? pullPolicy(container.image ?? ''),
})

/** A missing or `latest` tag is pulled always; a digest never needs to be. */
const pullPolicy = (image: string): string => {
  if (image.includes('@')) return 'IfNotPresent'
  const tag = image.slice(image.lastIndexOf('/') + 1).split(':')[1] ?? 'latest'
  return tag === 'latest' ? 'Always' : 'IfNotPresent'
}

const probes = (container: Container): Record<string, unknown> => {
  const filled: Record<string, unknown> = {}
  for (const name of ['livenessProbe', 'readinessProbe', 'startupProbe']) {
    const probe = container[name]
    if (!isRecord(probe)) continue
    const httpGet = isRecord(probe.httpGet)
      ? { httpGet: { ...probe.httpGet, scheme: probe.httpGet.scheme ?? 'HTTP' } }
      : {}
    filled[name] = {
      ...probe,
      ...httpGet,
      timeoutSeconds: probe.timeoutSeconds ?? 1,
      periodSeconds: probe.periodSeconds ?? 10,
      successThreshold: probe.successThreshold ?? 1,
      failureThreshold: probe.failureThreshold ?? 3,
    }
  }
  return filled
}

const mountPath = '/var/run/secrets/kubernetes.io/serviceaccount'

/** What admission adds to a Pod: service account and its token, two tolerations, priority. */
export const admitPodSpec = (
  given: PodSpec & Record<string, unknown>,
  suffix: () => string,
): PodSpec & Record<string, unknown> => {
  const spec = { ...given }
  const withToken = spec.automountServiceAccountToken !== false && !hasTokenVolume(spec)
  const volume = `kube-api-access-${suffix()}`
  const containers = (list: Container[]) =>
    list.map(container => ({
      ...container,
      volumeMounts: [...(container.volumeMounts ?? []), { name: volume, readOnly: true, mountPath }],
    }))
  if (withToken) {
    spec.volumes = [...(spec.volumes ?? []), tokenVolume(volume)]
    spec.containers = containers(spec.containers ?? [])
    if (spec.initContainers !== undefined) spec.initContainers = containers(spec.initContainers)
  }
  const account = spec.serviceAccountName ?? spec.serviceAccount ?? 'default'
  return {
    ...spec,
    serviceAccountName: account,
    serviceAccount: account,
    tolerations: admitTolerations(spec),
    priority: spec.priority ?? 0,
    enableServiceLinks: spec.enableServiceLinks ?? true,
    preemptionPolicy: spec.preemptionPolicy ?? 'PreemptLowerPriority',
  }
}

const hasTokenVolume = (spec: PodSpec): boolean =>
  (spec.volumes ?? []).some(volume => String(volume.name).startsWith('kube-api-access-'))

const tokenVolume = (name: string): Record<string, unknown> => ({
  name,
  projected: {
    sources: [
      { serviceAccountToken: { expirationSeconds: 3607, path: 'token' } },
      { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
      {
        downwardAPI: {
          items: [{ path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }],
        },
      },
    ],
    defaultMode: 420,
  },
})

/** Not added where a toleration already covers the taint (plugin/pkg/admission/defaulttolerationseconds). */
const admitTolerations = (spec: PodSpec) => {
  const tolerations = [...(spec.tolerations ?? [])]
  for (const key of ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable']) {
    const covered = tolerations.some(
      each =>
        (each.key === key || each.key === undefined || each.key === '') &&
        (each.effect === undefined || each.effect === '' || each.effect === 'NoExecute'),
    )
    if (!covered) tolerations.push({ key, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 })
  }
  return tolerations
}

/** BestEffort, Burstable or Guaranteed, from the containers' requests and limits. */
export const qosClass = (spec: PodSpec): string => {
  const all = [...(spec.containers ?? []), ...(spec.initContainers ?? [])].map(each => each.resources ?? {})
  const named = all.some(each => Object.keys({ ...each.requests, ...each.limits }).length > 0)
  if (!named) return 'BestEffort'
  const guaranteed = all.every(each =>
    ['cpu', 'memory'].every(
      key =>
        each.limits?.[key] !== undefined &&
        (each.requests?.[key] === undefined || each.requests[key] === each.limits[key]),
    ),
  )
  return guaranteed ? 'Guaranteed' : 'Burstable'
}
