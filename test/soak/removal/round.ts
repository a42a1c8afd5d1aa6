import { restartOn } from './beside.js'
import { decide, type Decisions } from './decisions.js'
import type { Lane } from './lane.js'
import { runOther } from './other-tool.js'
import { Removal } from './removal.js'

const minute = 60_000

const setTheScene = async (lane: Lane, decisions: Decisions): Promise<void> => {
  const { churn, node, counts } = lane
  if (decisions.skewMs !== undefined) {
    counts.clockJumps += 1
    node.setSkew(decisions.skewMs)
  } else if (Math.abs(node.skew) > 4.6 * minute) node.setSkew(0)
  if (decisions.recordsSilent === 'always') node.recordsSilent(true)
  await churn.play(decisions.before, 2)
  const { restart } = decisions
  if (restart?.when === 'before the plan') await churn.restart(restartOn(lane, restart))
  // Orphans grow old enough to be seen; what is in flight meanwhile comes up.
  if (decisions.recordsSilent === 'always') await churn.time.passLong(26 * minute)
  else if (decisions.olderThanMs > 0) await churn.time.passLong(decisions.olderThanMs + 10 * minute)
  else churn.time.pass(20_000)
}

/** One round: a burst of Pods, then one removal with everything that goes wrong beside it, then the checks. */
export const playRound = async (lane: Lane, round: number): Promise<void> => {
  lane.round = round
  const decisions = decide(lane.soak.seed, round, lane.kind)
  await setTheScene(lane, decisions)
  if (lane.soak.other === undefined) await new Removal(lane, decisions).run()
  else await runOther(lane, decisions)
  lane.check()
  lane.clear()
  lane.node.recordsSilent(false)
  lane.node.answer('up')
  lane.counts.rounds += 1
}

/** After the last round one removal with nothing beside it: then the store holds the living and no others. */
export const playLast = async (lane: Lane, round: number): Promise<void> => {
  lane.round = round
  lane.node.setSkew(0)
  await lane.churn.settle()
  await lane.churn.settle()
  const quiet: Decisions = {
    before: [],
    whilePlanning: [],
    whileWaiting: [],
    whileActing: [],
    restart: undefined,
    skewMs: undefined,
    recordsSilent: 'never',
    listsNothing: false,
    listsPart: false,
    handOverAfterMs: undefined,
    olderThanMs: 0,
    probe: true,
    readingWaitsMs: [],
    faults: [],
    undo: undefined,
  }
  // Files that were made while the node's clock was ahead are not old before that time has come.
  await lane.churn.time.passLong(25 * 60 * minute)
  await new Removal(lane, quiet).run()
  lane.check()
  lane.clear()
  for (const id of lane.truth.all('lost'))
    lane.counts.left.push(`at the end, ${lane.kind}: a file of ${id.slice(0, 8)}`)
}
