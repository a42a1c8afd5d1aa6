import { connectKube, type ConnectOptions, type Kube } from '../../../src/adapters/kubernetes/connect.js'
import { kubeconfigFile } from '../../contract/cluster-api-world.js'
import type { ApiRequest } from '../../lab/api/request.js'
import { type Allow, type LabApi, startApiServer } from '../../lab/api/index.js'
import type { KubeObject } from '../../lab/store.js'

export interface TestApi {
  server: LabApi
  kube: Kube
  /** Every list and watch that was asked for. */
  asked: ApiRequest[]
  close(): Promise<void>
}

export const startTestApi = async (
  options: ConnectOptions & { allow?: Allow; now?: () => number } = {},
): Promise<TestApi> => {
  const { allow, now = () => Date.now(), ...connect } = options
  const server = await startApiServer({ clock: { now }, ...(allow === undefined ? {} : { allow }) })
  const asked: ApiRequest[] = []
  server.faults.add({
    when: request => {
      asked.push(request)
      return false
    },
    answer: 'reset',
  })
  const config = kubeconfigFile(server)
  const kube = connectKube({ kubeconfig: config.file, context: undefined }, connect)
  config.remove()
  return {
    server,
    kube,
    asked,
    close: async () => {
      await kube.close()
      await server.close()
    },
  }
}

/** Polls until the condition holds. @throws after ten seconds, saying what was waited for. */
export const until = async (what: string, holds: () => boolean | Promise<boolean>): Promise<void> => {
  const deadline = Date.now() + 10_000
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error(`waited ten seconds for: ${what}`)
    await new Promise(resolve => setTimeout(resolve, 10))
  }
}

export const podObject = (
  name: string,
  over: { phase?: string; node?: string; namespace?: string; labels?: Record<string, string> } = {},
): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { namespace: over.namespace ?? 'payments', name, labels: over.labels ?? {} },
  spec: { containers: [{ name: 'c', image: 'i' }], nodeName: over.node ?? 'node-07' },
  status: { phase: over.phase ?? 'Pending' },
})

export const inPhase = (pod: KubeObject, phase: string): KubeObject => ({
  ...pod,
  status: { ...pod.status, phase },
})
