import { chmodSync, copyFileSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { LabClock } from '../clock.js'
import { Cni } from './cni.js'
import { Journal } from './journal.js'
import { type LeakOptions, leak, type LogOptions, logDelFailures } from './leaks.js'
import {
  type Allocation,
  draftSandbox,
  newUuid,
  type Sandbox,
  SandboxError,
  type SandboxPod,
} from './model.js'
import { hostLinks } from './links.js'
import { plantBoot, plantKubelet, plantTree } from './node-tree.js'
import { reboot, type RestartOptions, restartKubelet, restartRuntime } from './restarts.js'
import { Runtime } from './runtime.js'
import { StateFiles } from './state-files.js'
import { readAllocations } from './store-files.js'
import { Switches } from './switches.js'
import { Units } from './units.js'
import { type DelFailure, runtimeLines } from './wordings.js'

export interface LabNodeOptions {
  name: string
  /** Gets `root/` and the node's SSH files. */
  dir: string
  podCidr: string
  clock: LabClock
  /** Where host-local lies. */
  plugins: string
  /** e.g. `1.7.24`; decides what `ctr` can list. */
  runtimeVersion: string
  /** How long before now the node booted, in milliseconds. */
  uptimeMs: number
}

/** One node: a directory tree, a runtime's memory, and the real host-local over the tree's store. */
export class LabNode {
  readonly name: string
  readonly root: string
  readonly dir: string
  readonly podCidr: string
  readonly clock: LabClock
  readonly cni: Cni
  readonly journal: Journal
  readonly units: Units
  readonly runtime: Runtime
  readonly switches: Switches
  readonly files: StateFiles
  readonly runtimeVersion: string
  bootId = newUuid()
  readonly address = '127.0.0.1'
  /** Port and host key (`ssh-ed25519 AAAA…`) of the SSH server; set once it runs. */
  port = 0
  hostKey = ''
  /** Real milliseconds between an address file's birth and its sandbox in `crictl pods`. */
  listingDelayMs = 0
  readonly commandLog: string
  private held: Promise<void> | undefined
  private readonly closing = new AbortController()

  constructor(options: LabNodeOptions) {
    const { name, dir, podCidr, clock, plugins, runtimeVersion, uptimeMs } = options
    this.name = name
    this.dir = dir
    this.root = join(dir, 'root')
    this.podCidr = podCidr
    this.clock = clock
    this.runtimeVersion = runtimeVersion
    plantTree(this.root, name, podCidr)
    const started = clock.now() - uptimeMs
    plantBoot(this.root, this.bootId, started)
    const files = new StateFiles(this.root)
    this.files = files
    this.commandLog = join(files.folder, 'commands.log')
    const { bootId } = this
    this.journal = new Journal({ folder: join(files.folder, 'journal'), hostname: name, bootId, started })
    const unitsStart = started + 20_000
    this.units = new Units(files, unitsStart, unit => this.journal.pid(unit))
    plantKubelet(this.root, this.journal.pid('kubelet'), ['--config=/var/lib/kubelet/config.yaml'])
    this.runtime = new Runtime({ root: this.root, files, host: hostLinks(podCidr), version: runtimeVersion })
    this.switches = new Switches(this, files)
    this.cni = new Cni({
      root: this.root,
      plugins,
      now: () => clock.now(),
      onRollbackFailure: (id, error) => runtimeLines(this.journal).rollbackFailed(clock.now(), id, error),
    })
    for (const unit of ['containerd', 'kubelet']) this.announceStart(unit, unitsStart)
  }

  /**
   * RunPodSandbox: the record first, then the real ADD, then, after the delay, the listing.
   * Rejects with `SandboxError` in the runtime's words; nothing stays behind then, unless the chain is broken.
   */
  async add(request: SandboxPod): Promise<Sandbox> {
    const sandbox = draftSandbox(request, this.clock.now())
    const { id, pod } = sandbox
    const lines = runtimeLines(this.journal)
    this.switches.refuseWhenDown(id)
    lines.run(this.clock.now(), pod)
    this.runtime.records.set(id, this.clock.now())
    this.runtime.renderRecords()
    try {
      if (!pod.hostNetwork) this.runtime.attach(sandbox, await this.cni.add(id))
    } catch (cause) {
      this.runtime.records.delete(id)
      this.runtime.renderRecords()
      const reason = cause instanceof Error ? cause.message : String(cause)
      const text = `rpc error: code = Unknown desc = failed to setup network for sandbox "${id}": ${reason}`
      lines.runFailed(this.clock.now(), pod, text)
      throw new SandboxError(text, id)
    }
    this.runtime.sandboxes.set(id, sandbox)
    if (this.held !== undefined || this.listingDelayMs > 0) {
      await this.runtime.renderSoon()
      await this.held
      if (this.listingDelayMs > 0)
        await delay(this.listingDelayMs, undefined, { signal: this.closing.signal })
    }
    sandbox.listed = true
    await this.runtime.renderSoon()
    lines.runDone(this.clock.now(), pod, id)
    return sandbox
  }

  /** StopPodSandbox: the real DEL; the sandbox stays listed as NotReady. Rejects with `SandboxError`. */
  async stop(id: string): Promise<void> {
    const sandbox = this.sandbox(id)
    this.switches.refuseWhenDown(id)
    const lines = runtimeLines(this.journal)
    lines.stop(this.clock.now(), id)
    sandbox.state = 'notready'
    const failed = sandbox.network === undefined ? undefined : await this.cni.del(id)
    if (failed !== undefined) {
      const text = `rpc error: code = Unknown desc = failed to destroy network for sandbox "${id}": ${failed}`
      await this.runtime.renderSoon()
      lines.stopFailed(this.clock.now(), id, text)
      throw new SandboxError(text, id)
    }
    this.runtime.detach(sandbox)
    await this.runtime.renderSoon()
    lines.stopDone(this.clock.now(), id)
  }

  /** What happens when the Pod's work is done: its address goes back, the sandbox stays as NotReady. */
  finish(id: string): Promise<void> {
    return this.stop(id)
  }

  /** StopPodSandbox and RemovePodSandbox: nothing is left of it. */
  async remove(id: string): Promise<void> {
    const sandbox = this.sandbox(id)
    if (!sandbox.released) await this.stop(id)
    this.runtime.forget(sandbox)
    await this.runtime.renderSoon()
  }

  sandboxes(): Sandbox[] {
    return [...this.runtime.sandboxes.values()]
  }

  /** The plugin's address files in the network of the conflist. */
  allocations(): Allocation[] {
    return readAllocations(this.root)
  }

  /** What the SSH server was asked to run, in order, to the letter. */
  commands(): string[] {
    if (!existsSync(this.commandLog)) return []
    return readFileSync(this.commandLog, 'utf8').split('\0').slice(0, -1)
  }

  /** Addresses whose owner the runtime does not know. */
  orphans(): Allocation[] {
    return this.allocations().filter(({ owner }) => !this.runtime.sandboxes.has(owner))
  }

  /** Until the returned function is called, no new sandbox gets listed: the window of a slow start, held open. */
  holdListing(): () => void {
    let release = (): void => undefined
    this.held = new Promise(resolve => {
      release = () => {
        this.held = undefined
        resolve()
      }
    })
    return release
  }

  /** `count` addresses that no sandbox owns, made by real ADDs and dated inside the given time. */
  leak(count: number, options?: LeakOptions): Promise<Allocation[]> {
    return leak(this, count, options)
  }

  /** DEL failures in both journals, as a band between two times; changes nothing on the node. */
  logDelFailures(options: LogOptions): void {
    logDelFailures(this, options)
  }

  /** From now on DELs fail and keep their addresses; `false` ends it. */
  breakDel(how: DelFailure | boolean): void {
    this.cni.failure = how === true ? 'empty-cache' : how === false ? undefined : how
  }

  /** Returns the sandboxes that the runtime no longer knows. */
  restartRuntime(options?: RestartOptions): Sandbox[] {
    return restartRuntime(this, options)
  }

  restartKubelet(): void {
    restartKubelet(this)
  }

  /** New boot id; every sandbox is dead, its address still taken, until somebody stops it. */
  reboot(): void {
    reboot(this)
  }

  installScript(path: string): void {
    const target = join(this.root, 'usr/local/lib/cnibot/remove-orphans')
    copyFileSync(path, target)
    chmodSync(target, 0o755)
  }

  announceStart(unit: string, time: number): void {
    this.journal.systemd(unit, time, `Started ${unit}.service - ${this.units.description(unit)}.`)
    if (unit === 'containerd') {
      this.journal.containerdStart(time, this.runtimeVersion)
    } else {
      this.journal.kubelet(time, 'I', 'server.go:525', '"Kubelet version" kubeletVersion="v1.36.2"')
    }
  }

  close(): void {
    this.closing.abort()
  }

  private sandbox(id: string): Sandbox {
    const sandbox = this.runtime.sandboxes.get(id)
    if (sandbox !== undefined) return sandbox
    const text = 'rpc error: code = NotFound desc = an error occurred when try to find sandbox: not found'
    throw new SandboxError(text, id)
  }
}
