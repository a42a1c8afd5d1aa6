/** What the acting process is told to do, and how it is to fail. */
export interface StepOrder {
  run: string
  length: number
  /** Ask the node with the real probe instead of reading its files in the probe's order. */
  probe: boolean
  readingWaitsMs: number[]
  /** The removal script to run: the shipped one, or one with a line more. */
  script: string
  /** What any further run of the same step gets: nothing dies at the same place twice. */
  furtherScript: string
  /** A folder in front of the node's PATH. */
  programs: string | undefined
  session: { lost: 'never' } | { lost: 'while the list is sent'; part: number } | { lost: 'after the list' }
  /** The script's process group is killed so long after its start. */
  killScriptAfterMs: number | undefined
  /** Dies by SIGKILL at the n-th place where it touches anything outside itself. */
  dieAt: number | undefined
}

/** The actor's answer to one order. */
export interface Stepped {
  stepped: true
  /** How many such places it passed. */
  places: number
}

/** Where a dying actor leaves the name of the place, below the node's state files. */
export const placeFile = 'died-at'
/** Process ids of scripts it started, so that those that outlive it can be waited for. */
export const startedFile = 'scripts-started'
