import { execFileSync } from 'node:child_process'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import type { LabNode } from './lab-node.js'
import { newId, newMac, newUuid, type Sandbox } from './model.js'

interface CapturedPod {
  id: string
  metadata: { name: string; uid: string; namespace: string; attempt: number }
  state: string
  createdAt: string
  labels: Record<string, string>
  annotations: Record<string, string>
}

/** Files of a captured node that stand for themselves, and the state file each becomes. */
const verbatim: Record<string, string> = {
  'bridge-j-link.json': 'bridge-link.json',
  'ip-j-addr.json': 'ip/addr.json',
  'ip-j-link.json': 'ip/link.json',
  'ip-j-neigh.json': 'ip/neigh.json',
  'ip-j-route.json': 'ip/route.json',
  'iptables-t-nat-S.txt': 'iptables-nat.txt',
}

/**
 * Gives a node the state of a captured one: store, sandboxes, conflist, links, nat rules. Files the capture lacks
 * stay as they were. The captured link files hold until the next sandbox is made or stopped.
 */
export const loadCapture = (node: LabNode, folder: string): void => {
  const has = (name: string) => existsSync(join(folder, name))
  const text = (name: string) => readFileSync(join(folder, name), 'utf8')
  if (has('10-k8s-pod-network.conflist')) {
    const target = join(node.root, 'etc/cni/net.d/10-k8s-pod-network.conflist')
    copyFileSync(join(folder, '10-k8s-pod-network.conflist'), target)
  }
  if (has('ipam-store.tar')) unpack(node, join(folder, 'ipam-store.tar'))
  if (has('crictl-pods.json')) {
    const { items } = JSON.parse(text('crictl-pods.json')) as { items: CapturedPod[] }
    node.runtime.sandboxes.clear()
    node.runtime.records.clear()
    for (const item of items) take(node, item)
  }
  if (has('run-netns-ls.txt')) plantNamespaces(node, text('run-netns-ls.txt'))
  node.runtime.render()
  for (const [name, target] of Object.entries(verbatim)) {
    if (has(name)) node.files.write(target, text(name))
  }
}

const unpack = (node: LabNode, tar: string): void => {
  const target = join(node.root, 'var/lib/cni')
  rmSync(join(target, 'networks'), { recursive: true, force: true })
  execFileSync('tar', ['--no-same-owner', '-xf', tar, '-C', target])
}

const take = (node: LabNode, { id, metadata, state, createdAt, labels, annotations }: CapturedPod): void => {
  const address = node.allocations().find(({ owner }) => owner === id)?.address
  const ready = state === 'SANDBOX_READY'
  const sandbox: Sandbox = {
    id,
    containerId: newId(),
    pod: { ...metadata, labels, hostNetwork: ready && address === undefined },
    state: ready ? 'ready' : 'notready',
    createdAt: BigInt(createdAt),
    annotations,
    listed: true,
    netnsClosed: !ready,
    released: address === undefined,
  }
  node.runtime.sandboxes.set(id, sandbox)
  node.runtime.records.set(id, Number(sandbox.createdAt / 1_000_000n))
  if (address === undefined) return
  node.runtime.attach(sandbox, {
    address,
    gateway: address.replace(/\.\d+$/, '.1'),
    prefix: 24,
    network: node.cni.network().name,
    netns: `cni-${newUuid()}`,
    veth: `veth${newUuid().slice(0, 8)}`,
    ifindex: 100 + node.runtime.sandboxes.size,
    mac: newMac(),
  })
}

/** The captured names; which of them is whose Pod the capture does not say. */
const plantNamespaces = (node: LabNode, list: string): void => {
  const folder = join(node.root, 'run/netns')
  mkdirSync(folder, { recursive: true })
  const kept = new Set(node.runtime.attached().map(network => network.netns))
  const unclaimed = list.split('\n').filter(name => name !== '' && !kept.has(name))
  for (const name of readdirSync(folder)) if (!kept.has(name)) rmSync(join(folder, name))
  for (const name of unclaimed.slice(kept.size)) writeFileSync(join(folder, name), '')
}
