import type { KubeObject, LabStore } from './store.js'

const container = (name: string) => ({
  name,
  image: `registry.example/${name}:1.4.2`,
  resources: { requests: { cpu: '10m', memory: '16Mi' } },
})

export const template = (namespace: string, app: string, spec: Record<string, unknown> = {}) => ({
  metadata: { labels: { app }, namespace },
  spec: { containers: [container(app)], ...spec },
})

const meta = (namespace: string, name: string) => ({ namespace, name, labels: { app: name } })

export const deployment = (namespace: string, name: string, replicas: number): KubeObject => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: meta(namespace, name),
  spec: { replicas, selector: { matchLabels: { app: name } }, template: template(namespace, name) },
})

export const daemonSet = (namespace: string, name: string, hostNetwork = false): KubeObject => ({
  apiVersion: 'apps/v1',
  kind: 'DaemonSet',
  metadata: meta(namespace, name),
  spec: {
    selector: { matchLabels: { app: name } },
    template: template(namespace, name, hostNetwork ? { hostNetwork: true } : {}),
    updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1, maxSurge: 0 } },
  },
})

export const job = (namespace: string, name: string): KubeObject => ({
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: { ...meta(namespace, name), ownerReferences: [] },
  spec: {
    template: { ...template(namespace, name, { restartPolicy: 'Never' }) },
    completions: 1,
    parallelism: 1,
  },
})

/** A ReplicaSet whose Pods are already placed: so many on each node. */
export const placeReplicas = (
  store: LabStore,
  namespace: string,
  name: string,
  perNode: ReadonlyMap<string, number>,
): void => {
  const total = [...perNode.values()].reduce((a, b) => a + b, 0)
  const set = store.create('replicasets', {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: meta(namespace, name),
    spec: { replicas: total, selector: { matchLabels: { app: name } }, template: template(namespace, name) },
  })
  let n = 0
  for (const [node, count] of perNode)
    for (let i = 0; i < count; i++) {
      n++
      store.create('pods', {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: {
          namespace,
          name: `${name}-${n.toString(36).padStart(5, 'x')}`,
          labels: { app: name },
          ownerReferences: [
            {
              apiVersion: 'apps/v1',
              kind: 'ReplicaSet',
              name,
              uid: set.metadata.uid ?? '',
              controller: true,
            },
          ],
        },
        spec: { ...template(namespace, name).spec, nodeName: node },
      })
    }
}

export const namespace = (name: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name },
})
