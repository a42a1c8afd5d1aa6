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
