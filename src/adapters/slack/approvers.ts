import type { Risk } from '../../core/runbook/approval.js'
import { openClient, type SlackAccess } from './client.js'
import { asPortError } from './failure.js'

export interface ApproverSettings {
  /** Slack user ids. */
  users: readonly string[]
  /** Ids of user groups, `S012…`. */
  groups: readonly string[]
}

export interface ApproverList {
  /**
   * User ids, members of the groups included. undefined when Slack could not be asked: then nobody may approve.
   * `onClick` accepts a list of the last five seconds only.
   */
  people(when?: 'onClick'): Promise<string[] | undefined>
  /** Mentions of the groups and the people; needs no answer from Slack. */
  named: string
}

const aMinute = 60_000
const onClickMs = 5_000

const named = ({ users, groups }: ApproverSettings): string => {
  const names = [...groups.map(group => `<!subteam^${group}>`), ...users.map(user => `<@${user}>`)]
  return names.length === 0 ? 'nobody yet (CNIBOT_APPROVERS is empty)' : names.join(', ')
}

/** Members of groups change: asked anew after a minute, and on every click that is not right after another. */
export const openApprovers = (access: SlackAccess, settings: ApproverSettings): ApproverList => {
  const client = openClient(access)
  let last: { at: number; people: string[] } | undefined
  const ask = async (): Promise<string[]> => {
    const members = await Promise.all(
      settings.groups.map(async usergroup => (await client.usergroups.users.list({ usergroup })).users ?? []),
    )
    return [...new Set([...settings.users, ...members.flat()])]
  }
  return {
    named: named(settings),
    people: async when => {
      if (settings.groups.length === 0) return [...settings.users]
      const now = performance.now()
      if (last && now - last.at < (when === 'onClick' ? onClickMs : aMinute)) return last.people
      try {
        last = { at: now, people: await ask() }
        return last.people
      } catch (error) {
        last = undefined
        access.log.error(
          {},
          `nobody may approve just now: ${asPortError(error, 'the approver groups').message}`,
        )
        return undefined
      }
    },
  }
}

export interface ApproverLists {
  /** Those of a risk; without one everybody who may approve something. undefined when Slack could not be asked. */
  people: (risk?: Risk) => Promise<string[] | undefined>
  named: (risk?: Risk) => string
}

/** The general list, and one of its own for a risk whose setting names somebody. Asked on a click. */
export const openApproverLists = (
  access: SlackAccess,
  general: ApproverSettings,
  /** Ids of users and groups, mixed. */
  byRisk: Record<Risk, readonly string[]>,
): ApproverLists => {
  const base = openApprovers(access, general)
  const own = (ids: readonly string[]): ApproverList | undefined =>
    ids.length === 0
      ? undefined
      : openApprovers(access, {
          users: ids.filter(id => !id.startsWith('S')),
          groups: ids.filter(id => id.startsWith('S')),
        })
  const lists = { low: own(byRisk.low), medium: own(byRisk.medium), high: own(byRisk.high) }
  const anyOf = [...new Set([lists.low ?? base, lists.medium ?? base, lists.high ?? base])]
  const listsOf = (risk: Risk | undefined): ApproverList[] => (risk ? [lists[risk] ?? base] : anyOf)
  return {
    people: async risk => {
      const found = await Promise.all(listsOf(risk).map(list => list.people('onClick')))
      const known = found.filter(people => people !== undefined)
      return known.length < found.length ? undefined : [...new Set(known.flat())]
    },
    named: risk => [...new Set(listsOf(risk).map(list => list.named))].join(', '),
  }
}
