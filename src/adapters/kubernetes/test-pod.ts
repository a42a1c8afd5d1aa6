import type { V1Pod } from '@kubernetes/client-node'
import { testPodLabel } from '../../core/incident/symptom.js'
import type { TestPodSpec } from '../../ports.js'

interface Taint {
  key: string
  effect: string
}

/**
 * A Pod that the `restricted` Pod Security level admits and that needs next to nothing. It is bound to the node by
 * affinity, not by `nodeName`: so the scheduler looks at it and says why it cannot run. The node's own taints are
 * tolerated (it is there to test this very node); those of the node's health are not, and the cordon only when pinned.
 * Source: pod-security-admission/policy, kubernetes `node_unschedulable.go`.
 */
export const testPodBody = (spec: TestPodSpec, taints: Taint[]): V1Pod => ({
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
      ...taints
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
