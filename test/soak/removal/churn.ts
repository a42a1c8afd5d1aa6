import { setTimeout as delay } from 'node:timers/promises'
import { newUuid, type Sandbox } from '../../lab/nodes/model.js'
import type { Counts } from './counts.js'
import type { Operation, Restart } from './decisions.js'
import type { PluginShells } from './plugin-shells.js'
import type { SoakNode, SoakPod } from './soak-node.js'
import { Timeline } from './timeline.js'
import type { Truth } from './truth.js'

/** Of a sandbox: its ADD is under way, it has its address but is not listed, it is listed, its DEL failed, or it ends. */
type Phase = 'adding' | 'in flight' | 'listed' | 'stuck' | 'ending'

interface Life {
  sandbox: Sandbox
  pod: SoakPod
  phase: Phase
  /** The runtime lost it while its ADD was under way, or was killed then. */
  cut: 'forgotten' | 'interrupted' | undefined
}

/** containerd shows a sandbox it lost while making it as made 272 years ago. */
const noTime = -6_795_364_578_871_345_152n
/** So many of the 29 addresses that the range is nearly full, and a freed one is given out again at once. */
const enough = 17

/**
 * Pods come and go on one node as the kubelet and the runtime would have it: record, ADD, listing; DEL, removal from the
 * list, removal of the record. Waits are of the node's clock, which moves only here.
 */
export class Churn {
  private readonly lives = new Map<string, Life>()
  /** Lost owners that a DEL came for after all. */
  readonly late = new Set<string>()
  readonly time: Timeline

  constructor(
    private readonly node: SoakNode,
    private readonly plugin: PluginShells,
    private readonly truth: Truth,
    private readonly counts: Counts,
  ) {
    this.time = new Timeline(node.clock, plugin)
  }

  /** Several at a time, each after a short real wait; ends when all have been done. */
  async play(operations: readonly Operation[], atOnce: number): Promise<void> {
    const rest = [...operations]
    const one = async (): Promise<void> => {
      for (let next = rest.shift(); next !== undefined; next = rest.shift()) {
        await delay(next.waitMs)
        await this.operate(next)
      }
    }
    await Promise.all(Array.from({ length: atOnce }, one))
  }

  /** The runtime dies and is started again, and may have lost some of what it knew. */
  async restart({ loss, keepsRunning, recreates, downMs }: Restart): Promise<void> {
    this.counts.restarts += 1
    if (loss > 0) this.counts.restartsWithLoss += 1
    this.node.answer('down')
    const lives = [...this.lives.values()].filter(({ phase }) => phase !== 'ending')
    const lost = lives.filter((_, index) => (index * 0.618 + loss) % 1 < loss)
    const forgotten = lost.map((life, index) => ({ life, runs: (index * 0.382) % 1 < keepsRunning }))
    for (const { life, runs } of forgotten) this.forget(life, runs)
    this.node.unlist(lost.map(({ sandbox }) => sandbox.id))
    this.node.unrecord(lost.map(({ sandbox }) => sandbox.id))
    for (const life of lives) if (!lost.includes(life)) this.interrupt(life)
    await delay(downMs)
    this.time.pass(10_000)
    this.node.startedAt(this.node.clock.now())
    this.node.answer('up')
    // The kubelet makes new sandboxes for the Pods that still exist; others were deleted meanwhile.
    const again = lost.filter((_, index) => (index * 0.7) % 1 < recreates)
    for (const { pod } of lost) this.node.pods.delete(pod.uid)
    this.node.renderApi()
    await Promise.all(again.map(({ pod }) => this.start({ listAfterMs: 3_000, fate: 'list' }, pod)))
  }

  /** Every ADD, DEL and pending listing to its end. */
  async settle(): Promise<void> {
    await this.time.passLong(12 * 60_000)
  }

  /** An orphan's address is freed by a late DEL, and the next Pod gets this very one. */
  async handOver(which: number): Promise<void> {
    const lost = this.truth.all('lost').filter(id => this.truth.addressOf(id) !== undefined)
    const id = lost[Math.floor(which * lost.length)]
    const ip = id === undefined ? undefined : this.truth.addressOf(id)
    if (id === undefined || ip === undefined) return
    await this.lateDel(id)
    this.node.goOnBefore(ip)
    this.counts.handedOver += 1
    await this.start({ listAfterMs: 20_000, fate: 'list' })
  }

  /** Pods with an address, or nearly, that no list shows yet. */
  get starting(): number {
    return [...this.lives.values()].filter(({ phase }) => phase === 'adding' || phase === 'in flight').length
  }

  private async operate(operation: Operation): Promise<void> {
    this.time.pass(operation.passMs)
    const listed = [...this.lives.values()].filter(({ phase }) => phase === 'listed')
    const lost = operation.kind === 'late DEL' ? this.truth.all('lost') : []
    const late = lost[Math.floor(operation.which * lost.length)]
    if (late !== undefined) return this.lateDel(late)
    if (operation.kind === 'leak') return this.start(operation)
    const full = listed.length >= enough
    const victim = listed[Math.floor(operation.which * listed.length)]
    const stops = operation.kind === 'stop' ? operation.which < 0.9 || full : full && operation.which < 0.7
    return stops && victim !== undefined ? this.stop(victim, operation) : this.start(operation)
  }

  private async start(
    { listAfterMs, fate }: Pick<Operation, 'listAfterMs' | 'fate'>,
    pod: SoakPod = { uid: newUuid(), name: `api-${this.counts.adds}`, ip: undefined, startedAt: 0 },
  ): Promise<void> {
    await this.time.leapt()
    const sandbox = this.node.newSandbox(pod)
    const { id } = sandbox
    const life: Life = { sandbox, pod, phase: 'adding', cut: undefined }
    this.lives.set(id, life)
    this.truth.begin(id)
    this.node.record(id)
    const due = this.node.clock.now() + listAfterMs
    const added = await this.plugin.add(id)
    if ('full' in added) {
      this.counts.full += 1
      this.end(life)
      return
    }
    this.counts.adds += 1
    this.truth.added(id, added.ip)
    this.node.dateFile(added.ip)
    if (life.cut === 'forgotten') return void this.lives.delete(id)
    sandbox.network = {
      address: added.ip,
      gateway: '',
      prefix: 27,
      network: '',
      netns: '',
      veth: '',
      ifindex: 0,
      mac: '',
    }
    life.phase = 'in flight'
    if (life.cut === 'interrupted') return this.showBroken(life)
    this.time.at(due, () => this.comeUp(life, fate))
  }

  /** The time it took is over: it is listed, or it failed and its address is given back, or that fails too. */
  private comeUp(life: Life, fate: Operation['fate']): void {
    if (life.cut !== undefined || life.phase !== 'in flight') return
    const { sandbox, pod } = life
    const { id } = sandbox
    if (fate === 'rolled back') return void this.del(life)
    if (fate === 'leaks') {
      this.truth.lose(id)
      this.lives.delete(id)
      this.node.unrecord([id])
      return
    }
    life.phase = 'listed'
    this.node.list(sandbox)
    pod.ip = sandbox.network?.address
    pod.startedAt = this.node.clock.now()
    this.node.pods.set(pod.uid, pod)
    this.node.renderApi()
  }

  private async stop(life: Life, { delFails, listAfterMs }: Operation): Promise<void> {
    const { sandbox, pod } = life
    this.node.pods.delete(pod.uid)
    this.node.renderApi()
    sandbox.state = 'notready'
    if (!delFails) return this.del(life)
    // Its DEL fails for a while: NotReady, and still the owner of its address.
    life.phase = 'stuck'
    this.node.relist()
    this.time.in(listAfterMs, () => void (life.phase === 'stuck' && life.cut === undefined && this.del(life)))
  }

  private async del(life: Life): Promise<void> {
    const { id } = life.sandbox
    life.phase = 'ending'
    this.truth.deleting(id)
    await this.plugin.del(id)
    this.counts.dels += 1
    this.truth.gone(id)
    this.node.relist()
    // It stays in the list for seconds after its address is free.
    this.time.in(5_000, () => this.end(life))
  }

  private end({ sandbox: { id } }: Life): void {
    this.truth.gone(id)
    this.lives.delete(id)
    this.node.unlist([id])
    this.node.unrecord([id])
  }

  /** A DEL for an address that was given up: the metadata came back, or somebody cleans up by hand. */
  private async lateDel(id: string): Promise<void> {
    this.late.add(id)
    await this.plugin.del(id)
    this.counts.dels += 1
  }

  private forget(life: Life, runs: boolean): void {
    const { id, network } = life.sandbox
    life.cut = 'forgotten'
    if (life.phase !== 'adding') this.lives.delete(id)
    if (!runs || network === undefined) {
      this.truth.lose(id)
      return
    }
    this.node.hold(id, network.address)
    this.time.in(20 * 60_000, () => {
      this.truth.lose(id)
      this.node.letGo(id)
    })
  }

  /** The runtime died while it was being made: shown as NotReady afterwards, its address kept until the kubelet ends it. */
  private interrupt(life: Life): void {
    if (life.phase !== 'adding' && life.phase !== 'in flight') return
    life.cut = 'interrupted'
    if (life.phase === 'in flight') this.showBroken(life)
  }

  private showBroken(life: Life): void {
    life.sandbox.state = 'notready'
    life.sandbox.createdAt = noTime
    life.phase = 'stuck'
    this.node.list(life.sandbox)
    this.time.in(30_000, () => void (life.cut === 'interrupted' && this.del(life)))
  }
}
