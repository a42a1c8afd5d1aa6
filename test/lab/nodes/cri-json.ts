import { nanoTime, type Sandbox } from './model.js'

const sandboxState = (sandbox: Sandbox): string =>
  sandbox.state === 'ready' ? 'SANDBOX_READY' : 'SANDBOX_NOTREADY'

const labels = ({ pod }: Sandbox): Record<string, string> =>
  Object.fromEntries(
    Object.entries({
      ...pod.labels,
      'io.kubernetes.pod.name': pod.name,
      'io.kubernetes.pod.namespace': pod.namespace,
      'io.kubernetes.pod.uid': pod.uid,
    }).toSorted(([a], [b]) => (a < b ? -1 : 1)),
  )

const iso = (nanoseconds: bigint): string => {
  // Rounds down, also before 1970.
  const ms = nanoseconds >= 0n ? nanoseconds / 1_000_000n : (nanoseconds - 999_999n) / 1_000_000n
  return nanoTime(Number(ms))
}

const annotations = (sandbox: Sandbox): Record<string, string> =>
  sandbox.annotations ?? {
    'kubernetes.io/config.seen': iso(sandbox.createdAt - 250_000_000n),
    'kubernetes.io/config.source': 'api',
  }

const metadata = ({ pod }: Sandbox) => ({
  name: pod.name,
  uid: pod.uid,
  namespace: pod.namespace,
  attempt: pod.attempt,
})

const pretty = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`

/** `crictl pods -o json`. Put together from texts, since it is written for every sandbox that comes or goes. */
export const podsJson = (sandboxes: Sandbox[]): string =>
  sandboxes.length === 0
    ? pretty({ items: [] })
    : `{\n  "items": [\n${sandboxes.map(item).join(',\n')}\n  ]\n}\n`

const itemTexts = new WeakMap<Sandbox, { key: string; text: string }>()
const item = (sandbox: Sandbox): string => {
  const key = `${sandbox.state} ${sandbox.createdAt}`
  const known = itemTexts.get(sandbox)
  if (known?.key === key) return known.text
  const value = {
    id: sandbox.id,
    metadata: metadata(sandbox),
    state: sandboxState(sandbox),
    createdAt: sandbox.createdAt.toString(),
    labels: labels(sandbox),
    annotations: annotations(sandbox),
    runtimeHandler: '',
  }
  const text = JSON.stringify(value, null, 2).replace(/^/gm, '    ')
  itemTexts.set(sandbox, { key, text })
  return text
}

/** What the table and `-q` are made of: id, creation in ns, state, name, namespace, attempt. */
export const podsTsv = (sandboxes: Sandbox[]): string =>
  sandboxes
    .map(({ id, createdAt, state, pod }) =>
      [
        id,
        createdAt,
        state === 'ready' ? 'Ready' : 'NotReady',
        pod.name,
        pod.namespace,
        `${pod.attempt}\n`,
      ].join('\t'),
    )
    .join('')

const cniResult = ({ network }: Sandbox): unknown => {
  if (network === undefined) return null
  const sandbox = `/var/run/netns/${network.netns}`
  const link = (mac: string) => ({ IPConfigs: null, Mac: mac, PciID: '', Sandbox: '', SocketPath: '' })
  const inside = (ips: { Gateway: string; IP: string }[], mac: string) => ({
    ...link(mac),
    IPConfigs: ips,
    Sandbox: sandbox,
  })
  return {
    DNS: [{}, {}],
    Interfaces: {
      cni0: link('d6:74:75:7a:0b:4a'),
      eth0: inside([{ Gateway: network.gateway, IP: network.address }], network.mac),
      lo: inside([{ Gateway: '', IP: '127.0.0.1' }], '00:00:00:00:00:00'),
      [network.veth]: link(network.mac),
    },
    Routes: [{ dst: '0.0.0.0/0' }],
  }
}

/** `crictl inspectp -o json`: `network.ip` is empty once the namespace is closed, though the result keeps it. */
export const inspectpJson = (sandbox: Sandbox, pid: number): string => {
  const { network, pod } = sandbox
  const alive = sandbox.state === 'ready'
  const namespaces = ['pid', 'ipc', 'uts', 'mount'].map(type => ({ type }))
  return pretty({
    info: {
      cniResult: cniResult(sandbox),
      image: 'registry.k8s.io/pause:3.10',
      netNamespaceClosed: sandbox.netnsClosed,
      pid: alive ? pid : 0,
      processStatus: alive ? 'running' : 'deleted',
      runtimeSpec: {
        hostname: pod.name,
        linux: {
          namespaces:
            network === undefined
              ? namespaces
              : [...namespaces, { path: `/var/run/netns/${network.netns}`, type: 'network' }],
        },
      },
      runtimeType: 'io.containerd.runc.v2',
      snapshotKey: sandbox.id,
      snapshotter: 'overlayfs',
    },
    status: {
      annotations: annotations(sandbox),
      createdAt: iso(sandbox.createdAt),
      id: sandbox.id,
      labels: labels(sandbox),
      linux: {
        namespaces: {
          options: {
            ipc: 'POD',
            network: pod.hostNetwork ? 'NODE' : 'POD',
            pid: 'CONTAINER',
            targetId: '',
            usernsOptions: { gids: [], mode: 'NODE', uids: [] },
          },
        },
      },
      metadata: metadata(sandbox),
      network: {
        additionalIps: [],
        ip: network === undefined || sandbox.netnsClosed ? '' : network.address,
      },
      runtimeHandler: '',
      state: sandboxState(sandbox),
    },
  })
}

/** `crictl inspect -o json` of the sandbox's one container. */
export const inspectJson = (sandbox: Sandbox): string =>
  pretty({
    info: { sandboxID: sandbox.id },
    status: {
      id: sandbox.containerId,
      metadata: { attempt: 0, name: 'c' },
      state: sandbox.state === 'ready' ? 'CONTAINER_RUNNING' : 'CONTAINER_EXITED',
      createdAt: iso(sandbox.createdAt),
      labels: labels(sandbox),
    },
  })
