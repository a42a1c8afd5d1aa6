import { testPodLabel } from './incident/symptom.js'

/** Whose cordon it is; written and lifted in the same patch as the cordon itself. */
export const cordonAnnotation = 'cnibot.io/cordoned-by'

export interface SchedulableChange {
  unschedulable: boolean
  /** undefined takes our mark away. */
  cordonedBy: string | undefined
  /** The mark of the cordon that is to be lifted: any other is left. */
  lifts?: string
  /** The node must still be this machine, else nothing is written. */
  expectUid: string
}

/** The one patch that is shown to the approver and sent; sending adds the resourceVersion that was read, as a guard. */
export const schedulablePatch = ({ unschedulable, cordonedBy, expectUid }: SchedulableChange) => ({
  metadata: { uid: expectUid, annotations: { [cordonAnnotation]: cordonedBy ?? null } },
  spec: { unschedulable: unschedulable || null },
})

/** A request to the API server, as it is shown: what would be typed behind `kubectl --raw`. */
export const shownRequest = (method: string, path: string, body?: object): string =>
  body === undefined ? `${method} ${path}` : `${method} ${path} ${JSON.stringify(body)}`

/** Without the uid a late repeat would evict the replacement of the same name. The grace period stays the Pod's own. */
export const evictionBody = ({ namespace, name, uid }: { namespace: string; name: string; uid: string }) => ({
  apiVersion: 'policy/v1',
  kind: 'Eviction',
  metadata: { namespace, name },
  deleteOptions: { preconditions: { uid } },
})

/** The Pod that proves an ADD and a DEL. */
export interface TestPodSpec {
  namespace: string
  name: string
  image: string
  node: string
  /** 'pinned' tolerates the cordon and names its node; 'scheduler' needs the node to be schedulable. */
  via: 'pinned' | 'scheduler'
  /** The node's own, as they were when the Pod was planned. */
  taints: { key: string; effect: string }[]
  labels: Record<string, string>
  annotations: Record<string, string>
}

/**
 * A Pod that the `restricted` Pod Security level admits and that needs next to nothing. It is bound to the node by
 * affinity, not by `nodeName`: so the scheduler looks at it and says why it cannot run. The node's own taints are
 * tolerated (it is there to test this very node); those of the node's health are not, and the cordon only when pinned.
 * Source: pod-security-admission/policy, kubernetes `node_unschedulable.go`.
 */
export const testPodBody = (spec: TestPodSpec) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name: spec.name,
    namespace: spec.namespace,
    labels: { ...spec.labels, 'app.kubernetes.io/name': 'cnibot-test-pod', [testPodLabel]: 'true' },
    annotations: spec.annotations,
  },
  spec: {
    restartPolicy: 'Never',
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    // Removes itself should nobody be left to delete it; 0 seconds of grace would skip the kubelet's DEL.
    activeDeadlineSeconds: 600,
    terminationGracePeriodSeconds: 1,
    securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
    tolerations: [
      ...spec.taints
        .filter(taint => !taint.key.startsWith('node.kubernetes.io/'))
        .map(({ key, effect }) => ({ key, effect, operator: 'Exists' })),
      ...(spec.via === 'pinned'
        ? [{ key: 'node.kubernetes.io/unschedulable', operator: 'Exists', effect: 'NoSchedule' }]
        : []),
    ],
    affinity: {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [
            { matchFields: [{ key: 'metadata.name', operator: 'In', values: [spec.node] }] },
          ],
        },
      },
    },
    containers: [
      {
        name: 'pause',
        image: spec.image,
        // Already on the node: a registry that is down must not look like a network fault.
        imagePullPolicy: 'IfNotPresent',
        resources: { requests: { cpu: '1m', memory: '8Mi' }, limits: { memory: '32Mi' } },
        securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
      },
    ],
  },
})
