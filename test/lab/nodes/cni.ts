import { utimesSync } from 'node:fs'
import { join } from 'node:path'
import { ipamConfig, loadNetwork, missingPlugin, type NetworkConfig, storeFolder } from './conflist.js'
import { ipamAdd, ipamAddMany, ipamDel, type IpamResult } from './host-local.js'
import { newMac, newUuid, type PodNetwork } from './model.js'
import { type DelFailure, delFailures } from './wordings.js'

export interface CniOptions {
  root: string
  /** The folder of the plugins' programs. */
  plugins: string
  now: () => number
  /** Told when a failed ADD could not be taken back: the address stays. */
  onRollbackFailure: (id: string, error: string) => void
}

const words = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** The chain of the node's conflist: host-local for real, the other plugins by what they leave behind. */
export class Cni {
  failure: DelFailure | undefined
  private readonly options: CniOptions
  private nextIndex = 65

  constructor(options: CniOptions) {
    this.options = options
  }

  /** Throws what containerd says when no conflist loads. */
  network(): NetworkConfig {
    const network = loadNetwork(this.options.root)
    if (network === undefined) throw new Error('cni plugin not initialized')
    return network
  }

  /** A network is configured: what the node's condition Ready looks at. */
  loads(): boolean {
    return loadNetwork(this.options.root) !== undefined
  }

  /** A DEL would be refused before or by the chain. */
  delFails(): boolean {
    const network = loadNetwork(this.options.root)
    if (network === undefined || this.failure !== undefined) return true
    return missingPlugin(network, this.options.plugins) !== undefined
  }

  /** ADD; rejects with the message of the plugin that failed. */
  async add(id: string): Promise<PodNetwork> {
    const { plugins, now, onRollbackFailure } = this.options
    const network = this.network()
    const result = await this.allocate(id, network, now())
    const missing = missingPlugin(network, plugins)
    if (missing !== undefined) {
      // The rollback stops at the same plugin, before host-local is asked.
      onRollbackFailure(id, this.notFound(missing, 'delete'))
      throw new Error(this.notFound(missing, 'add'))
    }
    this.nextIndex += 1
    return {
      ...result,
      network: network.name,
      netns: `cni-${newUuid()}`,
      veth: `veth${newUuid().slice(0, 8)}`,
      ifindex: this.nextIndex,
      mac: newMac(),
    }
  }

  /** One real ADD of the address alone; the file is dated `modified`, in milliseconds. */
  async allocate(id: string, network: NetworkConfig, modified: number) {
    const { root, plugins: folder } = this.options
    const request = { folder, containerId: id, config: ipamConfig(root, network) }
    const result = await ipamAdd(request).catch((error: unknown) => {
      throw addFailure(network, words(error))
    })
    const first = firstAddress(result)
    for (const name of [first.address, 'last_reserved_ip.0']) {
      setModified(join(storeFolder(root, network), name), modified)
    }
    return first
  }

  /** Addresses alone, one for each owner; throws when the range is full, what was taken until then stays. */
  async allocateMany(owners: { id: string; modified: number }[]): Promise<string[]> {
    const { root, plugins: folder } = this.options
    const network = this.network()
    const request = { folder, config: ipamConfig(root, network) }
    const { results, failure } = await ipamAddMany(
      request,
      owners.map(owner => owner.id),
    )
    const addresses = results.map(result => firstAddress(result).address)
    for (const [index, address] of addresses.entries()) {
      setModified(join(storeFolder(root, network), address), owners[index]?.modified ?? this.options.now())
    }
    setModified(join(storeFolder(root, network), 'last_reserved_ip.0'), this.options.now())
    if (failure !== undefined) throw addFailure(network, failure)
    return addresses
  }

  /** DEL; resolves with the reason when it failed. */
  async del(id: string): Promise<string | undefined> {
    const { root, plugins: folder } = this.options
    const network = loadNetwork(root)
    if (network === undefined) return 'cni plugin not initialized'
    if (this.failure !== undefined) return delFailures[this.failure](network.name)
    const missing = missingPlugin(network, folder)
    if (missing !== undefined) return this.notFound(missing, 'delete')
    try {
      await ipamDel({ folder, containerId: id, config: ipamConfig(root, network) })
      return undefined
    } catch (error) {
      return `plugin type="${firstType(network)}" failed (delete): ${words(error)}`
    }
  }

  private notFound(type: string, verb: string): string {
    return `plugin type="${type}" failed (${verb}): failed to find plugin "${type}" in path [${this.options.plugins}]`
  }
}

const addFailure = (network: NetworkConfig, message: string): Error =>
  new Error(`plugin type="${firstType(network)}" failed (add): ${message}`)

const firstAddress = ({ ips: [ip] }: IpamResult) => {
  const [address = '', prefix = '24'] = (ip?.address ?? '').split('/')
  return { address, prefix: Number(prefix), gateway: ip?.gateway ?? '' }
}

const firstType = (network: NetworkConfig): string => network.plugins[0]?.type ?? 'bridge'

/** host-local has just made the file; a DEL or a removal may already have taken it again. */
const setModified = (path: string, ms: number): void => {
  try {
    utimesSync(path, ms / 1000, ms / 1000)
  } catch {
    // Gone: nothing to date.
  }
}
