import { shownDuration } from '../duration.js'
import type { Actor, Line, RunState } from './run-events.js'
import type { RunbookFile } from './schema.js'

export type Risk = RunbookFile['risk']

export interface Approvers {
  /** Slack user ids, members of the approver groups included; undefined when Slack could not be asked. */
  people: string[] | undefined
  /** How the list is named to people: `@sre-oncall`. */
  named: string
  /** Whether the person who opened a run counts among those who approve its steps. */
  selfApproval: boolean
}

export interface Click {
  by: Actor
  index: number
  digest: string
  now: number
}

export type Permission = { yes: true } | { yes: false; because: string; outdated?: boolean }

const no = (because: string): Permission => ({ yes: false, because })

/** An empty list approves nobody; an unread list approves nobody either. */
export const listed = ({ people, named }: Approvers, by: Actor, risk?: Risk): Permission => {
  if (!people) return no('Who may approve could not be read just now, so nobody may. Try again in a minute.')
  if (people.length === 0)
    return no('The approver list is empty, so nobody may approve. Set CNIBOT_APPROVERS.')
  if (people.includes(by)) return { yes: true }
  return no(
    risk === undefined
      ? `You are not on the approver list. ${named} may decide this.`
      : `You are not on the approver list for *${risk}* steps. ${named} may approve.`,
  )
}

/** Somebody came before: who, and how long before; the same person is told that it was they. */
const wasFirst = (line: Line, { by, now }: Click): string | undefined => {
  const mine = line.approvals.find(each => each.by === by)
  if (line.approved) {
    const first = mine ?? line.approved
    return first.by === by
      ? `You approved this ${shownAgo(now - first.at)} ago. It is running.`
      : `<@${first.by}> approved this ${shownAgo(now - first.at)} before you. It is running.`
  }
  return mine && `You approved this ${shownAgo(now - mine.at)} ago. ${waitsFor(line)} must approve it too.`
}

/** `1 more person`: who is still missing before the plan may run. */
export const waitsFor = ({ needs, approvals }: Pick<Line, 'needs' | 'approvals'>): string => {
  const more = needs - approvals.length
  return more === 1 ? 'One more person' : `${more} more people`
}

/** Why a plan can never get the approvals it needs; undefined where enough others may still give theirs. */
export const outOfReach = (
  { needs, approvals }: Pick<Line, 'needs' | 'approvals'>,
  openedBy: Actor,
  { people, named, selfApproval }: Approvers,
): string | undefined => {
  const barred = new Set([...approvals.map(({ by }) => by), ...(selfApproval ? [] : [openedBy])])
  const others = new Set((people ?? []).filter(person => !barred.has(person))).size
  if (!people || others >= needs - approvals.length) return undefined
  const left = others === 0 ? 'nobody else' : `only ${others} more`
  return `But ${left} on the list (${named}) may approve this, so it cannot be reached: put more people on the list, or ask for fewer approvals (CNIBOT_APPROVALS_LOW, _MEDIUM, _HIGH). Undo and Hold still work.`
}

/** Whether this person may press this button now; every no carries the sentence the person is shown. */
export const mayApprove = (state: RunState, click: Click, approvers: Approvers): Permission => {
  const onTheList = listed(approvers, click.by, state.runbook.risk)
  if (!onTheList.yes) return onTheList
  const line = state.lines[click.index]
  if (!line) return no('This step does not exist in the run.')
  if (state.status === 'ended') return no(`This run has ended (${state.outcome}).`)
  const first = line.digest === click.digest ? wasFirst(line, click) : undefined
  if (first) return no(first)
  if (line.status === 'done') return no('This step is done already.')
  if (line.digest !== click.digest || state.position !== click.index)
    return { yes: false, outdated: true, because: 'This plan is outdated: a newer one is below.' }
  if (state.status !== 'awaiting') return no('This step is not waiting for approval.')
  if (line.expiresAt !== undefined && click.now >= line.expiresAt)
    return { yes: false, outdated: true, because: 'This plan has expired. A new one is being made.' }
  if (!approvers.selfApproval && click.by === state.openedBy)
    return no('You opened this run; somebody else must approve its steps here.')
  return { yes: true }
}

/**
 * Whether this person may refuse the plan in view: whoever opened the run may, and whoever gave an approval that others
 * have yet to join.
 */
export const mayRefuse = (state: RunState, click: Click, approvers: Approvers): Permission => {
  const lines = state.lines.map(line => (line.approved ? line : { ...line, approvals: [] }))
  return mayApprove({ ...state, lines }, click, { ...approvers, selfApproval: true })
}

/** One more approval of the plan in view; with the last one that it needs it may run. Nobody counts twice. */
export const withApproval = (
  line: Line | undefined,
  { by, at, digest }: { by: Actor; at: number; digest: string },
): Partial<Line> => {
  if (!line || line.digest !== digest) throw new Error('an approval must name the newest plan of its step')
  const known = line.approvals.some(each => each.by === by)
  const approvals = known ? line.approvals : [...line.approvals, { by, at }]
  return approvals.length < line.needs
    ? { approvals }
    : { approvals, status: 'approved', approved: { by, at } }
}

/** `7 s`, `12 min`, `3 h 5 min`. */
export const shownAgo = (ms: number): string =>
  ms < 60_000 ? `${Math.max(1, Math.round(ms / 1000))} s` : shownDuration(ms)
