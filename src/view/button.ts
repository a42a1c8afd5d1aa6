/** What a button asks for. The word is the same in the action id, in the log and in the flows. */
export const actions = [
  'cordon',
  'reconcile',
  'drain',
  'compare',
  'hold',
  'release',
  'escalate',
  'take-back',
  'close',
  'approve',
  'refuse',
  'tick',
  'retry',
  'undo',
] as const
export type Action = (typeof actions)[number]

/**
 * What a button carries: ids, never a command. Which step and which plan are checked against the history on the click, so
 * an old message can ask for nothing that is not so any more.
 */
export interface ButtonValue {
  action: Action
  cluster: string
  incident: string
  run?: string
  index?: number
  /** The whole digest of the plan that was in view; for undo and retry, of where the run stood. */
  digest?: string
}

export const actionId = (action: Action): string => `cnibot:${action}`

/** Slack refuses longer values. */
const mostCharacters = 2_000

export const encodeButton = (value: ButtonValue): string => {
  const { action, cluster, incident, run, index, digest } = value
  const text = JSON.stringify({ a: action, c: cluster, i: incident, r: run, n: index, d: digest })
  if (text.length > mostCharacters)
    throw new Error(
      `the button ${action} of ${incident} would carry ${text.length} characters, Slack takes 2000`,
    )
  return text
}

const isAction = (value: unknown): value is Action => actions.some(action => action === value)
const isString = (value: unknown): value is string => typeof value === 'string' && value !== ''

const parsed = (text: string): Record<string, unknown> | undefined => {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value))
      : undefined
  } catch {
    return undefined
  }
}

/** undefined for anything that `encodeButton` did not make. */
export const decodeButton = (text: string): ButtonValue | undefined => {
  const raw = text.length <= mostCharacters ? parsed(text) : undefined
  if (!raw) return undefined
  const { a: action, c: cluster, i: incident, r: run, n: index, d: digest } = raw
  if (!isAction(action) || !isString(cluster) || !isString(incident)) return undefined
  if (run !== undefined && !isString(run)) return undefined
  if (index !== undefined && !(typeof index === 'number' && Number.isInteger(index) && index >= 0))
    return undefined
  if (digest !== undefined && !(isString(digest) && /^[0-9a-f]{64}$/.test(digest))) return undefined
  return {
    action,
    cluster,
    incident,
    ...(run === undefined ? {} : { run }),
    ...(index === undefined ? {} : { index }),
    ...(digest === undefined ? {} : { digest }),
  }
}

/** Buttons that ask for a reason in a dialog before anything is written down. */
export const reasonQuestions: Partial<Record<Action, { title: string; label: string; submit: string }>> = {
  close: {
    title: 'Close by hand',
    label: 'Why is this over? Kept with the incident, with your name.',
    submit: 'Close',
  },
}
