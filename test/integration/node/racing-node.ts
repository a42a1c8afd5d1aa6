import { randomBytes } from 'node:crypto'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { ipamAdd, ipamDel, pluginFolder } from '../../lab/nodes/host-local.js'
import { run } from './on-node.js'

export interface Entry {
  ip: string
  owner: string
  content: string
  inode: number
  size: number
}

const network = 'k8s-pod-network'
export const racingDir = `/var/lib/cni/networks/${network}`
export const racingBoot = '3b7b2c5e-0d6f-4a55-9b0e-1f3a5d6c7e81'

/**
 * A node whose runtime is two folders of ids: records are written before ADD, the listing only a while after it, as
 * containerd does. The addresses are the real plugin's.
 */
export class RacingNode {
  readonly root = mkdtempSync(join(tmpdir(), 'cnibot-race-'))
  /** Owners of Pods from before their ADD until after their DEL: none of their files may ever go. */
  readonly alive = new Set<string>()
  /** Pods that run: id and address. */
  readonly running = new Map<string, string>()
  readonly starting = new Set<string>()
  readonly leaked = new Set<string>()
  adds = 0
  dels = 0
  refusals = 0
  private readonly plugins = pluginFolder()

  constructor(private readonly subnet: string) {
    for (const folder of ['bin', 'listed', 'records', 'var/lib/cni/networks', 'proc/sys/kernel/random']) {
      mkdirSync(join(this.root, folder), { recursive: true })
    }
    writeFileSync(join(this.root, 'proc/sys/kernel/random/boot_id'), `${racingBoot}\n`)
    const program = (name: string, text: string): void => {
      writeFileSync(join(this.root, 'bin', name), `#!/bin/sh\ncd "$CNIBOT_NODE_ROOT" || exit 1\n${text}\n`)
      chmodSync(join(this.root, 'bin', name), 0o755)
    }
    const version = 'RuntimeName:  containerd\\nRuntimeVersion:  1.7.24\\n'
    program(
      'crictl',
      `case $* in *version) printf '${version}' ;; *'pods -q') exec ls listed ;; *) exit 1 ;; esac`,
    )
    program('ctr', `case $* in *'containers ls -q') exec ls records ;; *) echo ID ;; esac`)
  }

  get store(): string {
    return join(this.root, racingDir)
  }

  environment(): NodeJS.ProcessEnv {
    const path = `${join(this.root, 'bin')}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin`
    return { CNIBOT_NODE_ROOT: this.root, PATH: path }
  }

  /** A Pod starts: record, ADD, and after `listAfterMs` the listing. Undefined when the range was full. */
  async start(listAfterMs: number): Promise<string | undefined> {
    const id = randomBytes(32).toString('hex')
    this.alive.add(id)
    this.starting.add(id)
    writeFileSync(join(this.root, 'records', id), '')
    const ip = await this.add(id)
    if (ip === undefined) {
      rmSync(join(this.root, 'records', id))
      this.starting.delete(id)
      this.alive.delete(id)
      return undefined
    }
    await delay(listAfterMs)
    writeFileSync(join(this.root, 'listed', id), '')
    this.starting.delete(id)
    this.running.set(id, ip)
    return id
  }

  /** A Pod ends: DEL, then the listing and the record go. */
  async stop(id: string): Promise<void> {
    this.running.delete(id)
    await this.del(id)
    rmSync(join(this.root, 'listed', id))
    rmSync(join(this.root, 'records', id))
    this.alive.delete(id)
  }

  /** An address whose sandbox the runtime has lost. Undefined when the range was full. */
  async leak(): Promise<string | undefined> {
    const id = randomBytes(32).toString('hex')
    const ip = await this.add(id)
    if (ip === undefined) return undefined
    this.leaked.add(id)
    return id
  }

  async del(id: string): Promise<void> {
    await ipamDel(this.call(id))
    this.dels += 1
  }

  entries(): Entry[] {
    return readdirSync(this.store)
      .filter(name => /^[0-9.]+$/.test(name))
      .flatMap(ip => this.entry(ip) ?? [])
  }

  /** The address file as it is now, or undefined where it has just gone. */
  entry(ip: string): Entry | undefined {
    try {
      const content = readFileSync(join(this.store, ip), 'utf8')
      const { ino, size } = statSync(join(this.store, ip))
      return { ip, owner: content.split('\r\n')[0] ?? '', content, inode: ino, size }
    } catch {
      return undefined
    }
  }

  /** Pods that run without the address file they were given. */
  robbed(): string[] {
    return [...this.running]
      .filter(([id, ip]) => this.entry(ip)?.owner !== id)
      .map(([id, ip]) => `${ip} of ${id}`)
  }

  run(argv: string[], stdin: string): ReturnType<typeof run> {
    return run(argv, stdin, this.environment())
  }

  /** Owners of the files in a folder of the node. */
  ownersIn(folder: string): Map<string, string> {
    const path = join(this.root, folder)
    const names = existsSync(path) ? readdirSync(path).filter(name => /^[0-9.]+$/.test(name)) : []
    return new Map(names.map(ip => [ip, readFileSync(join(path, ip), 'utf8').split('\r\n')[0] ?? '']))
  }

  remove(): void {
    rmSync(this.root, { recursive: true, force: true })
  }

  private async add(id: string): Promise<string | undefined> {
    try {
      const { ips } = await ipamAdd(this.call(id))
      this.adds += 1
      return ips[0]?.address.split('/')[0]
    } catch (error) {
      if (!String(error).includes('no IP addresses available')) throw error
      this.refusals += 1
      return undefined
    }
  }

  private call(id: string) {
    const ipam = {
      type: 'host-local',
      dataDir: join(this.root, 'var/lib/cni/networks'),
      ranges: [[{ subnet: this.subnet }]],
    }
    const config = { cniVersion: '1.0.0', name: network, type: 'bridge', ipam }
    return { folder: this.plugins, containerId: id, config }
  }
}
