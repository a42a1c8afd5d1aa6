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
