import { setTimeout as delay } from 'node:timers/promises'
import type { StepOrder } from './actor-orders.js'
import type { Decisions, Fault } from './decisions.js'
import type { Lane } from './lane.js'

/** Tries to do one step of one run, each with one thing that goes wrong. */
export class Tries {
  /** Whether an earlier try's script may still stand at the gate. */
  private stray = false
  /** A script stood still under the plugin's lock: how long the lock was held then says nothing. */
  stoodUnderLock = false

  constructor(
    private readonly lane: Lane,
    private readonly decisions: Decisions,
    private readonly run: string,
  ) {}

  /** One try to act, with one thing that goes wrong. Long, because each fault is one case of one list. */
  async tryWith(fault: Fault, length: number): Promise<void> {
    const { lane } = this
    const { statements, killedAt, halfMoved } = lane.soak
    const statement = (place: number): number =>
      statements.remove[Math.floor(place * statements.remove.length)] ?? 1
    lane.counts.scripts += 1
    lane.counts.starting += lane.churn.starting
    switch (fault.what) {
      case 'nothing':
        return void (await this.step({ length }))
      case 'script killed at a statement': {
        const index = statement(fault.place)
        lane.count(`script killed at line ${index}`)
        return void (await this.step({ length, script: killedAt(index) }))
      }
      case 'script killed in the middle of moving':
        lane.count('script killed in the middle of moving')
        return void (await this.step({ length, programs: halfMoved }))
      case 'script killed from outside':
        lane.count('script killed from outside')
        return void (await this.step({ length, killScriptAfterMs: fault.afterMs }))
      case 'script stands still':
        return this.standStill(statement(fault.place), fault.sessionLost, length)
      case 'session lost while the list is sent':
        lane.count('session lost while the list is sent')
        return void (await this.step({
          length,
          session: { lost: 'while the list is sent', part: fault.part },
        }))
      case 'session lost after the list':
        lane.count('session lost after the list')
        return void (await this.step({ length, session: { lost: 'after the list' } }))
      case 'worker killed at a line':
        return void (await this.step({ length, dieAt: 1 + Math.floor(fault.place * 22) }))
      case 'worker killed from outside': {
        const stepped = await this.step({ length }, fault.afterMs)
        if (stepped) lane.count('worker was done before it was killed')
      }
    }
  }

  /** The script waits at one line while Pods come and go, and with it maybe the next try beside it. */
  private async standStill(index: number, sessionLost: boolean, length: number): Promise<void> {
    const { lane, decisions } = this
    await this.letStrayGo()
    const arrived = lane.gate.arrived()
    const session: StepOrder['session'] = sessionLost ? { lost: 'after the list' } : { lost: 'never' }
    const stepping = this.step({ length, script: lane.soak.stillAt(index), session })
    let came = false
    void arrived.then(() => (came = true))
    await Promise.race([arrived, stepping])
    // The session is lost, the script goes on: it is still to come to its place, or to its end.
    while (!came && sessionLost && lane.acting.scriptsRun()) await delay(2)
    const locked = lane.soak.statements.underLock(index)
    lane.count(came ? `script stands still at line ${index}` : 'script ended before it stood still')
    if (came && locked) {
      // ADDs and DELs have to wait for the lock now.
      this.stoodUnderLock = true
      const waiting = lane.churn.play(decisions.whileWaiting, 2)
      await delay(8)
      await lane.gate.release()
      await waiting
    } else if (came) {
      await lane.churn.handOver(decisions.probe ? 0.9 : 0.4)
      await lane.churn.play([...decisions.whileWaiting, ...decisions.whilePlanning], 3)
    }
    if (sessionLost && came && !locked) this.stray = true
    else await lane.gate.release()
    await stepping
  }

  /** What an earlier try left standing goes on: beside the next try, or after it. */
  async letStrayGo(): Promise<void> {
    if (!this.stray) return
    this.stray = false
    await this.lane.gate.release()
  }

  async step(over: Partial<StepOrder> & { length: number }, killAfterMs?: number): Promise<boolean> {
    const { lane, decisions } = this
    const letGo = this.stray ? delay(25).then(() => this.letStrayGo()) : undefined
    const order: StepOrder = {
      run: this.run,
      probe: decisions.probe,
      readingWaitsMs: decisions.readingWaitsMs,
      script: lane.soak.script,
      furtherScript: lane.soak.script,
      programs: undefined,
      session: { lost: 'never' },
      killScriptAfterMs: undefined,
      dieAt: undefined,
      ...over,
    }
    const stepped = await lane.acting.step(order, killAfterMs)
    await letGo
    if (stepped === undefined) lane.count(`worker killed ${lane.acting.takePlace() ?? 'from outside'}`)
    return stepped !== undefined
  }
}
