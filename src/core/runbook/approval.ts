import type { Actor, RunState } from './run.js'

export interface Approvers {
  /** Slack user ids, members of the approver groups included; undefined when Slack could not be asked. */
  people: string[] | undefined
  /** How the list is named to people: `@sre-oncall`. */
  named: string
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
const onTheList = (approvers: Approvers, by: Actor, risk: string): Permission => {
  if (!approvers.people)
    return no('Who may approve could not be read just now, so nobody may. Try again in a minute.')
  if (approvers.people.length === 0)
    return no('The approver list is empty, so nobody may approve. Set CNIBOT_APPROVERS.')
  if (!approvers.people.includes(by))
    return no(`You are not on the approver list for *${risk}* steps. ${approvers.named} may approve.`)
  return { yes: true }
}

/** Whether this person may press this button now; every no carries the sentence the person is shown. */
export const mayApprove = (state: RunState, click: Click, approvers: Approvers): Permission => {
  const listed = onTheList(approvers, click.by, state.runbook.risk)
  if (!listed.yes) return listed
  const line = state.lines[click.index]
  if (!line) return no('This step does not exist in the run.')
  if (state.status === 'ended') return no(`This run has ended (${state.outcome}).`)
  if (line.approved && line.digest === click.digest)
    return no(
      `<@${line.approved.by}> approved this ${shownAgo(click.now - line.approved.at)} before you. It is running.`,
    )
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

const shownAgo = (ms: number): string =>
  ms < 60_000 ? `${Math.max(1, Math.round(ms / 1000))} s` : `${Math.round(ms / 60_000)} min`
