import { setTimeout as delay } from 'node:timers/promises'
import type { Decisions, Operation } from './decisions.js'
import type { Lane } from './lane.js'

/** Other tools are not expected to know of Pods that run without their runtime. */
export const restartOn = <T extends { keepsRunning: number }>(lane: Lane, restart: T): T =>
  lane.soak.other === undefined ? restart : { ...restart, keepsRunning: 0 }

/** What goes on beside the removal: Pods come and go, and the runtime may die. */
export const beside = async (
  lane: Lane,
  operations: readonly Operation[],
  restart: Decisions['restart'],
): Promise<void> => {
  const dies = async (): Promise<void> => {
    if (restart === undefined) return
    await delay(restart.downMs * 5)
    await lane.churn.restart(restartOn(lane, restart))
  }
  await Promise.all([lane.churn.play(operations, 2), dies()])
}

/** While the removal is under way, one orphan's address is freed after all and given to a new Pod. */
export const handOver = async (lane: Lane, afterMs: number | undefined): Promise<void> => {
  if (afterMs === undefined) return
  await delay(afterMs)
  await lane.churn.handOver((afterMs % 10) / 10)
}
