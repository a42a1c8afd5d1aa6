import { mkdirSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { LabClock } from '../../lab/clock.js'
import { ipamConfig, loadNetwork } from '../../lab/nodes/conflist.js'
import { inspectpJson, podsJson, podsTsv } from '../../lab/nodes/cri-json.js'
import { draftSandbox, newId, newUuid, type Sandbox } from '../../lab/nodes/model.js'
import { plantBoot, plantTree } from '../../lab/nodes/node-tree.js'
import { StateFiles } from '../../lab/nodes/state-files.js'
import { type RuntimeKind, versions } from './runtime-kinds.js'

/** Small, so that a freed address is given out again at once: 29 addresses. */
export const subnet = '10.244.7.0/27'
export const storeDir = '/var/lib/cni/networks/k8s-pod-network'
export const quarantineDir = '/var/lib/cni/cnibot-quarantine'
export const nodeName = 'node-07'

export interface SoakPod {
  uid: string
  name: string
  /** What the API says; it may lag behind. */
  ip: string | undefined
  startedAt: number
}

/** What the acting side's cluster double reads. */
export interface ApiState {
  bootId: string
  pods: SoakPod[]
}

const crioRecords = 'var/lib/containers/storage/overlay-containers'

/**
 * One node's files: the plugin's store, what the runtime answers, what the API would say. Records are written before an
 * ADD, the listing long after it; on containerd 2 the record is in another list than before, on CRI-O it is a folder.
 */
export class SoakNode {
  readonly clock: LabClock
  readonly bootId = newUuid()
  readonly files: StateFiles
  readonly unit: string
  readonly socket: string
  private readonly listed = new Map<string, Sandbox>()
  private readonly recorded = new Set<string>()
  private inspected = new Set<string>()
  readonly pods = new Map<string, SoakPod>()

  constructor(
    readonly root: string,
    readonly kind: RuntimeKind,
    /** Also answers `inspectp`: for scripts of others, which may ask so. */
    private readonly inspectable: boolean,
  ) {
    const { name, version, socket, unit } = versions[kind]
    this.unit = unit
    this.socket = socket
    mkdirSync(root, { recursive: true })
    this.clock = new LabClock(join(root, 'clock'), Date.now())
    plantTree(root, nodeName, subnet)
    plantBoot(root, this.bootId, this.clock.now() - 86_400_000)
    writeFileSync(
      join(root, 'var/lib/kubelet/config.yaml'),
      `kind: KubeletConfiguration\ncontainerRuntimeEndpoint: unix://${socket}\n`,
    )
    mkdirSync(join(root, crioRecords), { recursive: true })
    mkdirSync(join(root, 'etc/containers'), { recursive: true })
    const network = loadNetwork(root)
    if (network === undefined) throw new Error('the conflist of the lab does not load')
    writeFileSync(join(root, 'ipam.json'), JSON.stringify(ipamConfig(root, network)))
    this.files = new StateFiles(root)
    this.files.write('runtime-endpoint', `unix://${socket}\n`)
    this.files.write('runtime-version', `${version}\n`)
    this.files.write('nothing/pods.tsv', '')
    this.files.write('nothing/pods.json', podsJson([]))
    const says = `Version:  0.1.0\nRuntimeName:  ${name}\nRuntimeVersion:  ${version}\nRuntimeApiVersion:  v1\n`
    this.files.write('crictl-version.txt', says)
    this.answer('up')
    this.startedAt(this.clock.now() - 3_600_000)
    this.setSkew(0)
    this.recordsSilent(false)
    // On any node something else has a sandbox too: a listing is never empty.
    for (const other of ['kube-proxy', 'node-agent']) this.addHostNetworkPod(other)
    this.renderList()
    this.renderRecords()
    this.renderApi()
  }

  get store(): string {
    return join(this.root, storeDir)
  }

  /** `part`: the list lacks two of five, the records do not. */
  answer(state: 'up' | 'down' | 'empty' | 'part'): void {
    if (state === 'part') {
      const some = [...this.listed.values()].filter((_, index) => index % 5 < 3)
      this.files.write('part/pods.json', podsJson(some))
      this.files.write('part/pods.tsv', podsTsv(some))
    }
    this.files.write('runtime', `${state}\n`)
  }

  startedAt(ms: number): void {
    this.files.write('runtime-started', `${Math.floor(ms / 1000)}\n`)
  }

  /** The node's clock minus everybody else's. */
  setSkew(ms: number): void {
    this.skew = ms
    this.files.write('clock-skew', `${ms}\n`)
  }
  skew = 0

  nodeNow(): number {
    return this.clock.now() + this.skew
  }

  /** The runtime's own records cannot be read. */
  recordsSilent(silent: boolean): void {
    if (silent) this.files.write('records-silent', '')
    else this.files.remove('records-silent')
    const root = silent ? '/nowhere' : '/var/lib/containers/storage'
    const conf = join(this.root, 'etc/containers/storage.conf')
    writeFileSync(`${conf}.next`, `[storage]\ngraphroot = "${root}"\n`)
    renameSync(`${conf}.next`, conf)
  }

  newSandbox(pod: SoakPod): Sandbox {
    return draftSandbox({ name: pod.name, namespace: 'payments', uid: pod.uid }, this.clock.now())
  }

  /** Before the ADD. */
  record(id: string): void {
    this.recorded.add(id)
    if (this.kind === 'crio') mkdirSync(join(this.root, crioRecords, id))
    else this.renderRecords()
  }

  list(sandbox: Sandbox): void {
    sandbox.listed = true
    this.listed.set(sandbox.id, sandbox)
    this.renderList()
    if (this.kind === 'containerd-2') this.renderRecords()
  }

  /** Shows a sandbox as it is now. */
  relist(): void {
    this.renderList()
  }

  unlist(ids: readonly string[]): void {
    for (const id of ids) this.listed.delete(id)
    this.renderList()
  }

  unrecord(ids: readonly string[]): void {
    for (const id of ids) {
      this.recorded.delete(id)
      if (this.kind === 'crio') rmSync(join(this.root, crioRecords, id), { recursive: true, force: true })
    }
    if (this.kind !== 'crio') this.renderRecords()
  }

  /** A process the runtime no longer knows keeps its namespace, and with it its address. */
  hold(id: string, ip: string): void {
    const name = `cni-${id.slice(0, 12)}`
    const addr = [{ ifname: 'eth0', addr_info: [{ family: 'inet', local: ip, prefixlen: 27 }] }]
    this.files.write(`netns/${name}/addr.json`, `${JSON.stringify(addr)}\n`)
    writeFileSync(join(this.root, 'run/netns', name), '')
  }

  letGo(id: string): void {
    const name = `cni-${id.slice(0, 12)}`
    rmSync(join(this.root, 'run/netns', name), { force: true })
    this.files.remove(`netns/${name}`)
  }

  /** The plugin dates a file by the node's clock; here that is another than this machine's. */
  dateFile(ip: string): void {
    const seconds = this.nodeNow() / 1000
    try {
      utimesSync(join(this.store, ip), seconds, seconds)
    } catch {
      // Somebody took it: the check says so.
    }
  }

  /** The plugin goes on from the address it gave out last: so this one is the next that it tries. */
  goOnBefore(ip: string): void {
    const [last = '', ...net] = ip.split('.').toReversed()
    const before = [...net.toReversed(), Number(last) - 1].join('.')
    writeFileSync(join(this.store, 'last_reserved_ip.0'), before)
  }

  renderApi(): void {
    const state: ApiState = { bootId: this.bootId, pods: [...this.pods.values()] }
    this.files.write('api.json', JSON.stringify(state))
  }

  private addHostNetworkPod(name: string): void {
    const sandbox = draftSandbox(
      { name, namespace: 'kube-system', uid: newUuid(), hostNetwork: true },
      this.clock.now(),
    )
    sandbox.listed = true
    this.listed.set(sandbox.id, sandbox)
    this.recorded.add(sandbox.id)
    if (this.kind === 'crio') mkdirSync(join(this.root, crioRecords, sandbox.id))
  }

  private renderList(): void {
    const all = [...this.listed.values()]
    this.files.write('pods.json', podsJson(all))
    this.files.write('pods.tsv', podsTsv(all))
    if (!this.inspectable) return
    for (const id of this.inspected) if (!this.listed.has(id)) this.files.remove(`inspectp/${id}.json`)
    this.inspected = new Set(this.listed.keys())
    for (const sandbox of all) this.files.write(`inspectp/${sandbox.id}.json`, inspectpJson(sandbox, 4_000))
    for (const [name, state] of [
      ['pods-ready', 'ready'],
      ['pods-notready', 'notready'],
    ] as const)
      this.files.write(`${name}.json`, podsJson(all.filter(sandbox => sandbox.state === state)))
  }

  private renderRecords(): void {
    if (this.kind === 'crio') return
    const modern = this.kind === 'containerd-2'
    const containers = [...this.recorded].filter(id => !modern || this.listed.has(id))
    this.files.write('ctr-containers', [...containers, newId()].map(id => `${id}\n`).join(''))
    const lines = [...this.recorded].map(
      id => `${id} 2026-11-30 15:25:25.39 +0000 UTC io.containerd.runc.v2\n`,
    )
    this.files.write('ctr-sandboxes', modern ? lines.join('') : '')
  }
}
