import { spawn } from 'node:child_process'
import { accessSync, constants, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { beside, handOver } from './beside.js'
import type { Decisions } from './decisions.js'
import type { Lane } from './lane.js'
import { filesIn } from './truth.js'

const isProgram = (file: string): boolean => {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** Files get the age that they have on the node's clock, for a tool that compares it with this machine's. */
const ageFiles = (lane: Lane): void => {
  for (const { ip, mtime } of filesIn(lane.node.store)) {
    const made = (Date.now() - Math.max(0, lane.node.nodeNow() - mtime)) / 1000
    try {
      utimesSync(join(lane.node.store, ip), made, made)
    } catch {
      // Freed meanwhile.
    }
  }
}

const runTool = (lane: Lane, file: string, killAfterMs: number | undefined): Promise<void> =>
  new Promise((resolve, reject) => {
    const [program, ...args] = isProgram(file) ? [file] : ['sh', file]
    const child = spawn(program, [...args, lane.node.store], {
      env: lane.environment(),
      cwd: lane.node.root,
      stdio: ['ignore', 'ignore', 'ignore'],
      detached: true,
    })
    const end = (): void => {
      try {
        if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
      } catch {
        // It had ended.
      }
    }
    const killer = killAfterMs === undefined ? undefined : setTimeout(end, killAfterMs)
    const limit = setTimeout(end, 60_000)
    child.once('error', reject)
    child.once('close', () => {
      clearTimeout(killer)
      clearTimeout(limit)
      resolve()
    })
  })

/** The other tool's script in the place of ours: same churn, same restarts, and killed where ours would be from outside. */
export const runOther = async (lane: Lane, decisions: Decisions): Promise<void> => {
  const { counts, soak } = lane
  if (soak.other === undefined) return
  await lane.churn.play(decisions.whilePlanning, 2)
  ageFiles(lane)
  const fault = decisions.faults.find(({ what }) => what === 'script killed from outside')
  const killAfterMs = fault?.what === 'script killed from outside' ? fault.afterMs : undefined
  if (killAfterMs !== undefined) lane.count('script killed from outside')
  if (decisions.listsNothing) lane.node.answer('empty')
  const before = filesIn(lane.node.store).length
  counts.scripts += 1
  counts.starting += lane.churn.starting
  const restart = decisions.restart?.when === 'before the plan' ? undefined : decisions.restart
  await Promise.all([
    runTool(lane, soak.other, killAfterMs),
    beside(lane, [...decisions.whileWaiting, ...decisions.whileActing], restart),
    handOver(lane, decisions.handOverAfterMs),
  ])
  counts.addressesRemoved += Math.max(0, before - filesIn(lane.node.store).length)
}
