import {
  flag,
  httpUrl,
  list,
  setting,
  slackChannel,
  slackGroup,
  slackPeople,
  slackUser,
  text,
  time,
  timeZone,
  token,
  whole,
} from './value.js'

const bot = ['bot'] as const
const worker = ['worker'] as const
const shown = ['bot', 'cli'] as const

const approversOf = (risk: 'LOW' | 'MEDIUM' | 'HIGH') =>
  setting(
    `CNIBOT_APPROVERS_${risk}`,
    bot,
    list(slackPeople),
    `people and user groups for runbooks of ${risk.toLowerCase()} risk alone; none leaves them to the lists above`,
    { default: '' },
  )

const approvalsOf = (risk: 'LOW' | 'MEDIUM' | 'HIGH') =>
  setting(
    `CNIBOT_APPROVALS_${risk}`,
    worker,
    whole(1, 9),
    `different people who must approve each change of a runbook of ${risk.toLowerCase()} risk`,
    { default: '1' },
  )

/** What the bot needs to speak Slack, and who may approve there. */
export const slackSettings = {
  slackBotToken: setting('CNIBOT_SLACK_BOT_TOKEN', bot, token('xoxb-'), 'bot token of the Slack app', {
    secret: true,
  }),
  slackAppToken: setting('CNIBOT_SLACK_APP_TOKEN', bot, token('xapp-'), 'app-level token for Socket Mode', {
    secret: true,
  }),
  slackApiUrl: setting(
    'CNIBOT_SLACK_API_URL',
    bot,
    httpUrl,
    'address of the Slack Web API; the tokens are sent there',
    { default: 'https://slack.com/api/' },
  ),
  slackApiUrlAllowRemote: setting(
    'CNIBOT_SLACK_API_URL_ALLOW_REMOTE',
    bot,
    flag,
    'lets CNIBOT_SLACK_API_URL name a host that is neither Slack nor this machine',
    { default: 'false' },
  ),
  slackChannel: setting(
    'CNIBOT_SLACK_CHANNEL',
    bot,
    slackChannel,
    'id of the channel that gets the incidents',
  ),
  approvers: setting(
    'CNIBOT_APPROVERS',
    bot,
    list(slackUser),
    'ids of the people who may approve; none approves nothing',
    { default: '' },
  ),
  approverGroups: setting(
    'CNIBOT_APPROVER_GROUPS',
    bot,
    list(slackGroup),
    'ids of user groups whose members may approve',
    { default: '' },
  ),
  selfApproval: setting(
    'CNIBOT_SELF_APPROVAL',
    bot,
    flag,
    'whether the person who opened a run counts among those who approve it',
    { default: 'true' },
  ),
  approversLow: approversOf('LOW'),
  approversMedium: approversOf('MEDIUM'),
  approversHigh: approversOf('HIGH'),
  approvalsLow: approvalsOf('LOW'),
  approvalsMedium: approvalsOf('MEDIUM'),
  approvalsHigh: approvalsOf('HIGH'),
  approvalTtl: setting('CNIBOT_APPROVAL_TTL', worker, time, 'how long a plan can be approved', {
    default: '30m',
  }),
  escalateTo: setting(
    'CNIBOT_ESCALATE_TO',
    bot,
    text.optional(),
    'who must act after a click on Escalate, as Slack writes it: <!subteam^S0614TZR7>; without it the word platform',
  ),
  timeZone: setting('CNIBOT_TIME_ZONE', shown, timeZone, 'time zone of the times people are shown', {
    default: 'UTC',
  }),
}
