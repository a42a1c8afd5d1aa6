import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { inspectJson, inspectpJson, podsJson, podsTsv } from './cri-json.js'
import { type HostLinks, linkFiles, type NatChain, natRules, netnsAddr } from './links.js'
import type { PodNetwork, Sandbox } from './model.js'
import type { StateFiles } from './state-files.js'

export const runtimeSocket = '/run/containerd/containerd.sock'

const gatherMs = 25

/** What the container runtime and the kernel of one node know; every change ends in `render`. */
export class Runtime {
  readonly sandboxes = new Map<string, Sandbox>()
  /** Ids on record before or after their ADD, as `ctr` lists them. */
  readonly records = new Map<string, number>()
  readonly chains = new Map<string, NatChain>()
  private readonly version: string
  private readonly root: string
  private readonly files: StateFiles
  private readonly host: HostLinks
  /** What was last written for each sandbox and interface: only what changed is worded again. */
  private readonly drawn = new Map<string, string>()
  private readonly plugged = new Set<string>()
  private coming: Promise<void> | undefined

  constructor(options: { root: string; files: StateFiles; host: HostLinks; version: string }) {
    this.root = options.root
    this.files = options.files
    this.host = options.host
    this.version = options.version
    this.renderFixed()
    this.render()
  }

  listed(): Sandbox[] {
    return [...this.sandboxes.values()].filter(sandbox => sandbox.listed)
  }

  /** Interfaces that exist in the kernel now. */
  attached(): PodNetwork[] {
    return [...this.sandboxes.values()].flatMap(({ network, netnsClosed }) =>
      network === undefined || netnsClosed ? [] : [network],
    )
  }

  attach(sandbox: Sandbox, network: PodNetwork): void {
    sandbox.network = network
    this.chains.set(sandbox.id, {
      address: network.address,
      network: network.network,
      owner: sandbox.id,
      podCidr: this.host.podCidr,
    })
    writeFileSync(join(this.root, 'run/netns', network.netns), '')
    const result = {
      kind: 'cniCacheV1',
      containerId: sandbox.id,
      ifName: 'eth0',
      networkName: network.network,
      netns: `/var/run/netns/${network.netns}`,
      result: { ips: [{ address: `${network.address}/${network.prefix}`, gateway: network.gateway }] },
    }
    writeFileSync(this.cacheFile(sandbox.id, network), JSON.stringify(result), { mode: 0o600 })
  }

  /** The kernel's side of a DEL. */
  detach(sandbox: Sandbox, { keepChain = false } = {}): void {
    this.unplug(sandbox)
    sandbox.released = true
    if (!keepChain) this.chains.delete(sandbox.id)
    if (sandbox.network !== undefined) rmSync(this.cacheFile(sandbox.id, sandbox.network), { force: true })
  }

  /** A reboot took the interfaces; the address is still taken and a DEL will free it. */
  unplug(sandbox: Sandbox): void {
    sandbox.netnsClosed = true
    if (sandbox.network === undefined) return
    rmSync(join(this.root, 'run/netns', sandbox.network.netns), { force: true })
    this.files.remove(`netns/${sandbox.network.netns}`)
    this.plugged.delete(sandbox.network.netns)
  }

  forget(sandbox: Sandbox): void {
    this.sandboxes.delete(sandbox.id)
    this.records.delete(sandbox.id)
  }

  /** Several changes within a few milliseconds are written once; resolves when this one is. */
  renderSoon(): Promise<void> {
    this.coming ??= new Promise((resolve, reject) => {
      setTimeout(() => {
        this.coming = undefined
        try {
          this.render()
          resolve()
        } catch (error) {
          reject(error)
        }
      }, gatherMs)
    })
    return this.coming
  }

  render(): void {
    // crictl lists the newest first.
    const listed = this.listed().toSorted((a, b) => (a.createdAt < b.createdAt ? 1 : -1))
    const inState = (state: Sandbox['state']) => listed.filter(sandbox => sandbox.state === state)
    this.files.write('pods.json', podsJson(listed))
    this.files.write('pods-ready.json', podsJson(inState('ready')))
    this.files.write('pods-notready.json', podsJson(inState('notready')))
    this.files.write('pods.tsv', podsTsv(listed))
    this.renderRecords()
    for (const [name, text] of Object.entries(linkFiles(this.host, this.attached())))
      this.files.write(name, text)
    this.files.write('iptables-nat.txt', natRules([...this.chains.values()]))
    for (const network of this.attached()) {
      if (this.plugged.has(network.netns)) continue
      this.files.write(`netns/${network.netns}/addr.json`, netnsAddr(network))
      this.plugged.add(network.netns)
    }
    this.renderEach(listed)
  }

  /** Only the records changed: what a runtime writes down before it calls the plugin. */
  renderRecords(): void {
    const finished = [...this.records].filter(([id]) => this.sandboxes.get(id)?.listed ?? false)
    // From 2.0 on the sandbox store comes first; before, the sandbox's container record does.
    const modern = /^v?[2-9]/.test(this.version)
    const containers = modern ? finished : [...this.records]
    const sandboxes = modern ? [...this.records] : []
    const ids = containers.map(([id]) => `${id}\n`)
    const inside = this.listed().map(sandbox => `${sandbox.containerId}\n`)
    this.files.write('ctr-containers', [...ids, ...inside].toSorted().join(''))
    this.files.write('ctr-sandboxes', sandboxes.map(([id, time]) => `${id} ${goTime(time)}\n`).join(''))
  }

  private renderEach(listed: Sandbox[]): void {
    const now = new Set(listed.map(sandbox => sandbox.id))
    for (const id of this.drawn.keys()) {
      if (now.has(id)) continue
      this.files.remove(`inspectp/${id}.json`)
      this.drawn.delete(id)
    }
    for (const sandbox of listed) {
      const { id, state, netnsClosed, network, createdAt } = sandbox
      const looks = `${state} ${netnsClosed} ${network?.address} ${createdAt}`
      if (this.drawn.get(id) === looks) continue
      this.drawn.set(id, looks)
      const pid = 40_000 + (Number.parseInt(sandbox.id.slice(0, 4), 16) % 20_000)
      this.files.write(`inspectp/${sandbox.id}.json`, inspectpJson(sandbox, pid))
      this.files.write(`inspect/${sandbox.containerId}.json`, inspectJson(sandbox))
    }
  }

  private renderFixed(): void {
    const { files, version } = this
    files.write('runtime', 'up\n')
    files.write('runtime-endpoint', `unix://${runtimeSocket}\n`)
    files.write('runtime-version', `${version}\n`)
    files.write(
      'crictl-version.txt',
      `Version:  0.1.0\nRuntimeName:  containerd\nRuntimeVersion:  ${version}\nRuntimeApiVersion:  v1\n`,
    )
    const conditions = ['RuntimeReady', 'NetworkReady'].map(type => ({
      type,
      status: true,
      reason: '',
      message: '',
    }))
    const info = {
      cniconfig: { PluginDirs: ['/opt/cni/bin'], PluginConfDir: '/etc/cni/net.d', Prefix: 'eth' },
      lastCNILoadStatus: 'OK',
      status: { conditions },
    }
    files.write('crictl-info.json', `${JSON.stringify(info, null, 2)}\n`)
    files.write('nothing/pods.json', podsJson([]))
    files.write('nothing/pods-ready.json', podsJson([]))
    files.write('nothing/pods-notready.json', podsJson([]))
    files.write('nothing/pods.tsv', '')
  }

  private cacheFile(id: string, network: PodNetwork): string {
    return join(this.root, 'var/lib/cni/results', `${network.network}-${id}-eth0`)
  }
}

/** A time as Go prints it. */
const goTime = (ms: number): string =>
  `${new Date(ms).toISOString().replace('T', ' ').replace('Z', '')} +0000 UTC`
