import { type Part, probeText } from '../unit/evidence/probe-text.js'
import { contentOf, lockInode, networkDir, type NodeModel } from './node-model.js'

const day = 86_400
const conflist = JSON.stringify({
  cniVersion: '1.0.0',
  name: 'k8s-pod-network',
  plugins: [
    {
      type: 'bridge',
      ipam: {
        type: 'host-local',
        dataDir: '/var/lib/cni/networks',
        ranges: [[{ subnet: '10.244.7.0/24' }]],
      },
    },
  ],
})

const storeParts = ({ store, clock }: NodeModel): Record<'stores' | 'contents', Part> => {
  const now = (clock.now() / 1_000).toFixed(3)
  const files = [...store].map(
    ([ip, file]) => `rf ${file.inode} ${contentOf(file).length} ${(file.mtime / 1_000).toFixed(3)} ${ip}`,
  )
  const records = [`@${networkDir}`, `rf ${lockInode} 0 ${now} lock`, ...files]
  const contents = [...store].flatMap(([ip, file]) =>
    contentOf(file)
      .split('\n')
      .map(line => `${ip}\t${line}`),
  )
  return {
    stores: { body: records.map(record => `${record}\0`).join('') },
    contents: { body: [`@${networkDir}`, ...contents].join('\n') },
  }
}

const sandboxParts = ({ sandboxes, runtimeDown }: NodeModel): Record<'sandboxes' | 'records', Part> => {
  if (runtimeDown) {
    const silent = { body: '', code: 1, said: 'connection refused' }
    return { sandboxes: silent, records: silent }
  }
  const all = [...sandboxes.values()]
  const items = all.map(({ id, namespace, pod, podUid }) => ({
    id,
    metadata: { name: pod, uid: podUid, namespace, attempt: 0 },
    state: 'SANDBOX_READY',
    createdAt: '1790000000000000000',
  }))
  const ids = all.map(({ id }) => id)
  const records = ['@ctr -n k8s.io containers ls', ...ids, '!0', '@ctr -n k8s.io sandboxes ls', '!0']
  return { sandboxes: { body: JSON.stringify({ items }) }, records: { body: records.join('\n') } }
}

const heldPart = ({ sandboxes, answering }: NodeModel): Part => ({
  body: [
    ...[...sandboxes.values()].flatMap(({ id, ip }) => [
      `@namespace cni-${id.slice(-8)}`,
      JSON.stringify([{ ifname: 'eth0', addr_info: [{ local: ip }] }]),
    ]),
    '@neighbour',
    JSON.stringify([...answering].map(dst => ({ dst, dev: 'cni0', state: ['REACHABLE'] }))),
    '@route',
    '[]',
    '@host',
    '[]',
  ].join('\n'),
})

/** What the probe would print of this node now; in a short look without what takes long. */
export const probeAnswer = (node: NodeModel, light: boolean): string => {
  const seconds = Math.floor(node.clock.now() / 1_000)
  const skipped: Part = { body: '', code: 200, said: 'not asked for in a short look' }
  const started = seconds - 30 * day
  const journal = [
    `window ${seconds - 16 * day} ${seconds + 1}`,
    ...['containerd', 'kubelet'].flatMap(unit => [
      `!${unit}\t0\t0`,
      `oldest\t${unit}\t${seconds - 60 * day}.000 node-07 ${unit}[1]: begun`,
    ]),
  ]
  const runtime = [
    'endpoint unix:///run/containerd/containerd.sock',
    "from the kubelet's configuration",
    'RuntimeName:  containerd',
    'RuntimeVersion:  v1.7.24',
  ]
  const parts: Record<string, Part> = {
    host: {
      body: `hostname node-07\nnow ${(node.clock.now() / 1_000).toFixed(3)}\nuid 0\nboot_id ${node.bootId}\nbtime ${seconds - 60 * day}`,
    },
    conflist: { body: `@/etc/cni/net.d/10-k8s-pod-network.conflist\n|${conflist}` },
    ...storeParts(node),
    runtime: node.runtimeDown
      ? { body: runtime.slice(0, 2).join('\n'), code: 1, said: 'connection refused' }
      : { body: runtime.join('\n') },
    ...sandboxParts(node),
    owners: light ? skipped : { body: '' },
    held: heldPart(node),
    journal: light ? skipped : { body: journal.join('\n') },
    restarts: {
      body: ['containerd', 'kubelet'].map(unit => `${unit} ExecMainStartTimestamp=@${started}`).join('\n'),
    },
    leftovers: light ? skipped : { body: '@links\n[]\n@nat\n0' },
  }
  return probeText(parts, seconds)
}
