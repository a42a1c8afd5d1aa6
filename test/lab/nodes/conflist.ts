import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export interface NetworkConfig {
  cniVersion: string
  name: string
  plugins: { type: string; ipam?: Record<string, unknown>; [key: string]: unknown }[]
}

/** The conflist of the captured cluster, for another range. */
export const standardConflist = (podCidr: string): string => `{
  "cniVersion": "1.0.0",
  "name": "k8s-pod-network",
  "plugins": [
    {
      "type": "bridge",
      "bridge": "cni0",
      "isGateway": true,
      "ipMasq": true,
      "hairpinMode": true,
      "ipam": {
        "type": "host-local",
        "ranges": [[{ "subnet": "${podCidr}" }]],
        "routes": [{ "dst": "0.0.0.0/0" }]
      }
    },
    {
      "type": "portmap",
      "capabilities": { "portMappings": true }
    }
  ]
}
`

/** The network as containerd loads it: the first file by name counts, and a broken one is no network at all. */
export const loadNetwork = (root: string): NetworkConfig | undefined => {
  const folder = join(root, 'etc/cni/net.d')
  const first = readdirSync(folder)
    .filter(name => /\.(conf|conflist|json)$/.test(name))
    .toSorted()[0]
  if (first === undefined) return undefined
  try {
    const config = JSON.parse(readFileSync(join(folder, first), 'utf8')) as Partial<NetworkConfig>
    return typeof config.name === 'string' && Array.isArray(config.plugins)
      ? { cniVersion: config.cniVersion ?? '0.4.0', name: config.name, plugins: config.plugins }
      : undefined
  } catch {
    return undefined
  }
}

/** What the plugin gets on standard input; its data folder moves below the node's root. */
export const ipamConfig = (root: string, network: NetworkConfig): Record<string, unknown> => {
  const ipam = network.plugins[0]?.ipam ?? {}
  return {
    cniVersion: network.cniVersion,
    name: network.name,
    ipam: { ...ipam, dataDir: join(root, dataDir(network)) },
  }
}

export const dataDir = (network: NetworkConfig): string => {
  const own = network.plugins[0]?.ipam?.dataDir
  return typeof own === 'string' ? own : '/var/lib/cni/networks'
}

export const storeFolder = (root: string, network: NetworkConfig): string =>
  join(root, dataDir(network), network.name)

/** The first plugin of the chain whose program is not installed. */
export const missingPlugin = (network: NetworkConfig, folder: string): string | undefined =>
  network.plugins.map(plugin => plugin.type).find(type => !existsSync(join(folder, type)))
