import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { CoreV1Event, V1DaemonSet, V1Node, V1Pod } from '@kubernetes/client-node'
import type { Wire } from '../../../src/adapters/kubernetes/wire.js'

const fixture = (path: string): string => readFileSync(join('test/fixtures', path), 'utf8')
const items = <T>(path: string): T[] => (JSON.parse(fixture(path)) as { items: T[] }).items

type Folder = 'kube-exhausted' | 'kube-reboot-victims'

/** Lists as the real API server sent them (managedFields taken out). */
export const captured = {
  pods: (folder: Folder) => items<Wire<V1Pod>>(`${folder}/pods.json`),
  events: (folder: Folder) => items<Wire<CoreV1Event>>(`${folder}/events.json`),
  nodes: () => items<Wire<V1Node>>('kube-exhausted/nodes.json'),
  daemonSets: () => items<Wire<V1DaemonSet>>('kube-exhausted/daemonsets.json'),
  text: fixture,
}

export const podNamed = (folder: Folder, prefix: string): Wire<V1Pod> => {
  const found = captured.pods(folder).find(pod => pod.metadata?.name?.startsWith(prefix))
  if (!found) throw new Error(`no Pod ${prefix}… in test/fixtures/${folder}`)
  return found
}
