import type { RemovalEntry } from '../../../src/core/ipam/removal.js'
import type { Done, Plan } from '../../../src/core/runbook/plan.js'
import { foldRun, type RunEvent, type RunState, settledLength } from '../../../src/core/runbook/run.js'
import { runStream } from '../../../src/core/incident/incident.js'
import { opOf } from '../../../src/steps/remove-orphans.js'
import { beside, handOver } from './beside.js'
import type { Decisions, Fault } from './decisions.js'
import type { Lane } from './lane.js'
import { nodeName } from './soak-node.js'
import { Tries } from './tries.js'
import { filesIn } from './truth.js'
import { undo } from './undo.js'

const mostSteps = 48
/** From here on nothing goes wrong any more. */
const quietFrom = 24

/** One run of one removal step, from its plan until it is done: who clicks, who queues, and what goes wrong meanwhile. */
export class Removal {
  /** The same in every round, as it is where histories were lost: the quarantine must not be. */
  private readonly name = 'soak-r1'
  private readonly faults: Fault[]
  private readonly tries: Tries
  private clean = false
  private restarted = false
  private diedPlanning = false
  /** Dead owners when the newest plan was approved. */
  private dead = new Set<string>()

  constructor(
    private readonly lane: Lane,
    private readonly decisions: Decisions,
  ) {
    this.faults = [...decisions.faults]
    this.tries = new Tries(lane, decisions, this.name)
  }

  async run(): Promise<void> {
    const { lane } = this
    await this.write(0, this.opened())
    for (let steps = 0; steps < mostSteps; steps += 1) {
      const { state, events, length } = await this.state()
      if (state.status === 'planning' && state.position > 0) break
      if (steps > quietFrom) this.heal()
      if (state.status === 'planning') await this.plan(length)
      else if (state.status === 'awaiting') await this.approve(state, length)
      else if (state.status === 'paused') await this.retry(state, length)
      else await this.act(state, settledLength(events))
    }
    await this.tries.letStrayGo()
    await lane.acting.scriptsEnded()
    lane.check()
    await this.judge()
    const wanted = this.decisions.undo
    if (wanted === undefined) return
    const { state } = await this.state()
    const quarantine = lane.quarantineOf(opOf({ run: state, index: 0 }))
    await undo(lane, this.decisions, this.tries, this, { fault: wanted.fault, quarantine })
  }

  private async plan(length: number): Promise<void> {
    const { lane, decisions } = this
    lane.counts.plans += 1
    const operations = this.clean ? [] : decisions.whilePlanning
    const fault = this.faults[0]
    const dies = !this.diedPlanning && fault?.what === 'worker killed at a line' && fault.place < 0.2
    this.diedPlanning ||= dies
    await Promise.all([
      this.tries.step({ length, ...(dies ? { dieAt: 1 + Math.floor(fault.place * 60) } : {}) }),
      lane.churn.play(operations, 2),
    ])
  }

  /** The person says yes; before the work begins, time passes. */
  private async approve(state: RunState, length: number): Promise<void> {
    const { lane, decisions } = this
    const index = state.position
    const digest = state.lines[index]?.digest ?? ''
    this.dead = new Set(lane.truth.all('lost'))
    await this.write(length, {
      at: lane.node.clock.now(),
      by: 'UAPPROVER',
      type: 'StepApproved',
      index,
      digest,
    })
    if (this.clean) return
    const restart = decisions.restart?.when === 'before acting' ? decisions.restart : undefined
    await beside(lane, decisions.whileWaiting, this.once(restart))
  }

  private async act(state: RunState, length: number): Promise<void> {
    const { lane, decisions } = this
    const fault: Fault = this.faults.shift() ?? { what: 'nothing' }
    const first = !this.clean && decisions.faults.length === this.faults.length + 1
    const plan = state.lines[state.position]?.plan as Plan<'remove-orphans'> | undefined
    if (first && decisions.recordsSilent === 'while acting') lane.node.recordsSilent(true)
    if (first && decisions.listsNothing) lane.node.answer('empty')
    if (first && decisions.listsPart) lane.node.answer('part')
    const until = plan?.data.actFrom
    const wait =
      until === undefined
        ? undefined
        : lane.churn.time.passLong(Math.max(0, until - lane.node.clock.now()) + 1_000)
    const restart = first && decisions.restart?.when === 'while acting' ? decisions.restart : undefined
    await Promise.all([
      this.tries.tryWith(fault, length),
      wait,
      first ? beside(lane, decisions.whileActing, this.once(restart)) : undefined,
      first ? handOver(lane, decisions.handOverAfterMs) : undefined,
    ])
    lane.truth.check()
  }

  private async retry(state: RunState, length: number): Promise<void> {
    const { lane } = this
    const index = state.position
    const error = state.lines[index]?.error
    if (error?.class === 'bug') throw new Error(`round ${lane.round}: ${error.message}`)
    if (error?.class === 'refused') lane.counts.refusals += 1
    if (error?.class === 'refused' || this.faults.length === 0) this.heal()
    await this.write(length, { at: lane.node.clock.now(), by: 'UAPPROVER', type: 'RetryAsked', index })
  }

  /** Nothing goes wrong from here on: what was refused must work now. */
  private heal(): void {
    const { node, churn } = this.lane
    this.clean = true
    node.answer('up')
    if (this.decisions.recordsSilent !== 'always') node.recordsSilent(false)
    if (Math.abs(node.skew) > 4.6 * 60_000) node.setSkew(0)
    churn.time.pass(5_000)
  }

  /** Every approved file of a dead owner must be gone, unless it is too young by the node's clock. */
  private async judge(): Promise<void> {
    const { lane } = this
    const { state } = await this.state()
    const line = state.lines[0]
    const done = line?.done as Done<'remove-orphans'> | undefined
    if (done !== undefined && !this.tries.stoodUnderLock)
      lane.counts.longestLockMs = Math.max(lane.counts.longestLockMs, done.data.underLockMs)
    const last = line?.plan as Plan<'remove-orphans'> | undefined
    const approved = new Map((last?.data.entries ?? []).map((entry: RemovalEntry) => [entry.ip, entry.owner]))
    const age = this.decisions.recordsSilent === 'always' ? 15 * 60_000 : 0
    const youngest = lane.node.nodeNow() - Math.max(last?.data.olderThanMs ?? 0, age)
    const left = filesIn(lane.node.store).filter(
      ({ ip, owner, mtime }) =>
        approved.get(ip) === owner &&
        lane.truth.standingOf(owner) === 'lost' &&
        this.dead.has(owner) &&
        mtime <= youngest,
    )
    for (const { ip } of left) lane.counts.left.push(`round ${lane.round}, ${lane.kind}: ${ip}`)
    if (line?.status === 'done') return
    const why = line?.error?.message ?? state.status
    lane.counts.left.push(`round ${lane.round}, ${lane.kind}: the run did not come to its end: ${why}`)
  }

  private once(restart: Decisions['restart']): Decisions['restart'] {
    if (this.restarted) return undefined
    this.restarted = restart !== undefined
    return restart
  }

  private opened(): RunEvent {
    const { clock, bootId } = this.lane.node
    const runbook = {
      name: 'soak',
      title: 'Give leaked addresses back',
      risk: 'medium' as const,
      answers: [],
      forbidden_by: [],
      prerequisites: [],
      steps: [
        { kind: 'remove-orphans' as const, older_than: this.decisions.olderThanMs, readings: 2 as const },
      ],
      // Something to wait at, so that what was done can be undone.
      verify: [{ kind: 'confirm' as const, sentences: ['The node looks well'] }],
      escalate_to: 'platform',
      digest: 'soak',
    }
    const of = {
      cluster: 'soak',
      incident: `${nodeName}@1`,
      node: nodeName,
      nodeUid: 'node-uid',
      bootId,
      runbook,
    }
    return { at: clock.now(), by: 'UAPPROVER', type: 'RunOpened', run: this.name, ...of }
  }

  async state(): Promise<{ state: RunState; events: RunEvent[]; length: number }> {
    const { events, length } = await this.lane.history.read<RunEvent>(runStream(this.name))
    const state = foldRun(events)
    if (state === undefined) throw new Error(`${this.name} has no history`)
    return { state, events, length }
  }

  async write(length: number, event: RunEvent): Promise<void> {
    await this.lane.history.append(runStream(this.name), length, [event])
  }
}
