import type { RunEvent, RunState } from '../../../src/core/runbook/run.js'
import { settledLength } from '../../../src/core/runbook/run.js'
import type { Decisions, Fault } from './decisions.js'
import type { Lane } from './lane.js'
import type { Tries } from './tries.js'
import { filesIn, type StoreFile } from './truth.js'

/** The run that is undone, as the person who clicks sees and writes it. */
export interface RunInHand {
  state(): Promise<{ state: RunState; events: RunEvent[]; length: number }>
  write(length: number, event: RunEvent): Promise<void>
}

export interface AfterUndo {
  /** What lay in the quarantine before, and what does now. */
  before: readonly StoreFile[]
  kept: readonly StoreFile[]
  store: readonly StoreFile[]
  /** Owners that a DEL came for after all: it takes their file away wherever the plugin finds it. */
  late: ReadonlySet<string>
  leftBehind: readonly string[]
}

/** Addresses that should have their file again and have not: neither back, nor given out since and told so. */
export const notPutBack = ({ before, kept, store, late, leftBehind }: AfterUndo): string[] => {
  const has = (files: readonly StoreFile[], { ip, owner }: StoreFile): boolean =>
    files.some(file => file.ip === ip && file.owner === owner)
  return before
    .filter(file => {
      if (has(store, file)) return false
      if (has(kept, file)) return !leftBehind.some(line => line.startsWith(`${file.ip}: given out since, `))
      return !late.has(file.owner)
    })
    .map(({ ip }) => ip)
}

const faultOf = (lane: Lane, fault: Fault): { dieAt?: number; script?: string } => {
  if (fault.what === 'worker killed at a line') return { dieAt: 1 + Math.floor(fault.place * 8) }
  if (fault.what !== 'script killed at a statement') return {}
  const { restore } = lane.soak.statements
  lane.count('undo killed at a statement')
  return { script: lane.soak.killedAt(restore[Math.floor(fault.place * restore.length)] ?? 1) }
}

/** Puts back what was moved; the files of a new owner stay as they are. Whatever is not as it must be then counts as left. */
export const undo = async (
  lane: Lane,
  decisions: Decisions,
  tries: Tries,
  run: RunInHand,
  { fault, quarantine }: { fault: Fault; quarantine: string },
): Promise<void> => {
  const done = await run.state()
  if (done.state.lines[0]?.done?.changed !== true) return
  const before = filesIn(quarantine)
  // New Pods take addresses that were given back.
  await lane.churn.play([...decisions.whilePlanning, ...decisions.whileActing], 2)
  await tries.step({ length: settledLength(done.events) })
  const asked = await run.state()
  await run.write(asked.length, { at: lane.node.clock.now(), by: 'UAPPROVER', type: 'UndoAsked' })
  const over = faultOf(lane, fault)
  for (let steps = 0; steps < 6; steps += 1) {
    const { state, events } = await run.state()
    if (state.status !== 'undoing') break
    await Promise.all([
      tries.step({ length: settledLength(events), ...(steps === 0 ? over : {}) }),
      lane.churn.play(steps === 0 ? decisions.whileWaiting : [], 2),
    ])
  }
  await lane.acting.scriptsEnded()
  lane.check()
  const { state } = await run.state()
  const line = state.lines[0]
  const where = `round ${lane.round}, ${lane.kind}:`
  const after = { before, kept: filesIn(quarantine), store: filesIn(lane.node.store), late: lane.churn.late }
  for (const ip of notPutBack({ ...after, leftBehind: line?.leftBehind ?? [] }))
    lane.counts.left.push(`${where} ${ip} was not put back`)
  if (state.outcome === 'undone') lane.counts.undone += 1
  else
    lane.counts.left.push(
      `${where} the undo did not come to its end: ${line?.error?.message ?? state.outcome ?? state.status}`,
    )
}
