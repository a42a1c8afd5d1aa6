import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Environment, readSettings, SettingsError, shownSettings } from '../../src/config.js'
import { settings } from '../../src/settings/list.js'
import type { Setting } from '../../src/settings/value.js'

const botEnv: Environment = {
  CNIBOT_CLUSTER: 'prod-eu1',
  CNIBOT_REDIS_URL: 'redis://:hunter2@redis:6379/1',
  CNIBOT_SLACK_BOT_TOKEN: 'xoxb-1-secret',
  CNIBOT_SLACK_APP_TOKEN: 'xapp-1-secret',
  CNIBOT_SLACK_CHANNEL: 'C024BE91L',
}
const workerEnv: Environment = {
  CNIBOT_CLUSTER: 'prod-eu1',
  CNIBOT_REDIS_URL: 'redis://redis:6379',
  CNIBOT_SSH_READ_USER: 'cnibot-probe',
  CNIBOT_SSH_READ_KEY_FILE: '/keys/read',
  CNIBOT_SSH_REPAIR_USER: 'cnibot-repair',
  CNIBOT_SSH_REPAIR_KEY_FILE: '/keys/repair',
  CNIBOT_SSH_KNOWN_HOSTS: '/keys/known_hosts',
}

const problemsOf = (env: Environment, role: 'bot' | 'worker'): string[] => {
  try {
    readSettings(env, role)
  } catch (error) {
    if (error instanceof SettingsError) return error.problems
    throw error
  }
  return []
}

describe('settings', () => {
  it('has defaults for all that is not about this installation', () => {
    const bot = readSettings(botEnv, 'bot')
    expect(bot).toMatchObject({
      approvers: [],
      selfApproval: true,
      stuckAfter: 5 * 60_000,
      rolloutStuckAfter: 15 * 60_000,
      slackApiUrl: 'https://slack.com/api/',
      maxNodesUnderRepair: 1,
      approversHigh: [],
      paused: false,
      stormThreshold: 3,
      stormWindow: 15 * 60_000,
      httpPort: 8080,
    })
    expect(bot.kubeconfig).toBeUndefined()
    expect(readSettings(workerEnv, 'worker')).toMatchObject({
      sshPort: 22,
      approvalTtl: 30 * 60_000,
      approvalsLow: 1,
      approvalsHigh: 1,
      paused: false,
      sshProbeCommand: ['/bin/sh', '-s', '--'],
      sshRemoveCommand: ['sudo', '-n', '/usr/local/lib/cnibot/remove-orphans'],
      sshNodeAddresses: new Map(),
    })
  })

  it('shows a role only what is its own: no Slack token for the worker, no key for the bot', () => {
    const everything = { ...botEnv, ...workerEnv }
    expect(Object.keys(readSettings(everything, 'worker')).filter(name => name.startsWith('slack'))).toEqual(
      [],
    )
    expect(Object.keys(readSettings(everything, 'bot')).filter(name => name.startsWith('ssh'))).toEqual([])
    expect(JSON.stringify(readSettings(everything, 'worker'))).not.toContain('xoxb-')
    expect(Object.keys(readSettings(everything, 'cli')).filter(name => /repair|redis/i.test(name))).toEqual(
      [],
    )
  })

  it('names all problems at once, each in one line that says what to do', () => {
    const problems = problemsOf(
      {
        CNIBOT_CLUSTER: 'prod eu1',
        CNIBOT_SLACK_BOT_TOKEN: 'hunter2',
        CNIBOT_SLACK_APP_TOKEN: 'xapp-1',
        CNIBOT_SLACK_CHANNEL: '#incidents',
        CNIBOT_STUCK_AFTER: '5 minutes',
        CNIBOT_SELF_APPROVAL: 'maybe',
        CNIBOT_MAX_NODES_UNDER_REPAIR: '0',
        CNIBOT_TIME_ZONE: 'Mars/Olympus',
        CNIBOT_APROVERS: 'U024BE7LH',
      },
      'bot',
    )
    expect(problems).toEqual([
      'CNIBOT_APROVERS is no setting of this version: correct its name or remove it',
      'CNIBOT_CLUSTER is "prod eu1"; it must be letters, digits, dots, underscores and hyphens, at most 63',
      'CNIBOT_REDIS_URL is missing: Redis or Valkey with append-only persistence and no eviction',
      'CNIBOT_SLACK_BOT_TOKEN is set, but must be a token that begins with xoxb-',
      'CNIBOT_SLACK_CHANNEL is "#incidents"; it must be a Slack channel id such as C024BE91L',
      'CNIBOT_SELF_APPROVAL is "maybe"; it must be true or false',
      'CNIBOT_TIME_ZONE is "Mars/Olympus"; it must be a time zone such as UTC or Europe/Berlin',
      'CNIBOT_STUCK_AFTER is "5 minutes"; it must be a duration such as 30s, 15m, 24h or 7d',
      'CNIBOT_MAX_NODES_UNDER_REPAIR is "0"; it must be a whole number from 1 to 50',
    ])
  })

  it.each([
    ['https://slack.com/api', []],
    ['https://slack-gov.com/api/', []],
    ['http://127.0.0.1:4000/api/', []],
    ['http://[::1]:4000/api/', []],
    ['https://slack.com.example.net/api/', ['slack.com.example.net']],
    ['http://slack.com/api/', ['slack.com']],
    ['http://127.0.0.1.example.net/', ['127.0.0.1.example.net']],
  ])('sends the Slack tokens only to Slack or this machine: %s', (url, refused) => {
    const problems = problemsOf({ ...botEnv, CNIBOT_SLACK_API_URL: url }, 'bot')
    expect(problems).toHaveLength(refused.length)
    for (const host of refused) expect(problems[0]).toContain(`names ${host},`)
    const allowed = { ...botEnv, CNIBOT_SLACK_API_URL: url, CNIBOT_SLACK_API_URL_ALLOW_REMOTE: 'true' }
    expect(problemsOf(allowed, 'bot')).toEqual([])
  })

  it('reads lists, addresses and the jump host', () => {
    const worker = readSettings(
      {
        ...workerEnv,
        CNIBOT_SSH_NODE_ADDRESSES: 'node-07=127.0.0.1:2207, node-08=[fd00::8]:22,node-09=node-09.example',
        CNIBOT_SSH_JUMP: 'hop@bastion.example:2022',
      },
      'worker',
    )
    expect([...worker.sshNodeAddresses]).toEqual([
      ['node-07', { host: '127.0.0.1', port: 2207 }],
      ['node-08', { host: 'fd00::8', port: 22 }],
      ['node-09', { host: 'node-09.example', port: undefined }],
    ])
    expect(worker.sshJump).toEqual({ user: 'hop', host: 'bastion.example', port: 2022 })
    const bot = readSettings({ ...botEnv, CNIBOT_APPROVERS: 'U024BE7LH, U024BE7LJ,' }, 'bot')
    expect(bot.approvers).toEqual(['U024BE7LH', 'U024BE7LJ'])
  })

  it.each(['node-07', 'node-07=', 'node-07=1.2.3.4:99999', 'a=1.2.3.4,a=1.2.3.5', 'a=u@host'])(
    'refuses node addresses it would misread: %s',
    value => {
      expect(problemsOf({ ...workerEnv, CNIBOT_SSH_NODE_ADDRESSES: value }, 'worker')).toEqual([
        `CNIBOT_SSH_NODE_ADDRESSES is ${JSON.stringify(value)}; it must be ` +
          'node=address pairs with commas, such as node-07=10.0.0.7:2222,node-08=[fd00::8]',
      ])
    },
  )

  it('takes an empty variable for one that was not set', () => {
    const bot = readSettings({ ...botEnv, CNIBOT_ESCALATE_TO: '', CNIBOT_MAX_NODES_UNDER_REPAIR: '' }, 'bot')
    expect(bot.escalateTo).toBeUndefined()
    expect(bot.maxNodesUnderRepair).toBe(1)
  })

  it('ignores the variables Kubernetes makes for a Service named cnibot', () => {
    const links = { CNIBOT_PORT: 'tcp://10.0.0.1:80', CNIBOT_BOT_SERVICE_HOST: '10.0.0.1' }
    expect(problemsOf({ ...botEnv, ...links }, 'bot')).toEqual([])
  })

  it('shows what is in force without secrets', () => {
    const shown = shownSettings(botEnv, 'bot')
    expect(shown.CNIBOT_SLACK_BOT_TOKEN).toBe('(set)')
    expect(shown.CNIBOT_REDIS_URL).toBe('redis://:***@redis:6379/1')
    expect(shown.CNIBOT_STUCK_AFTER).toBe('5m')
    expect(JSON.stringify(shown)).not.toMatch(/hunter2|-secret/)
  })

  it('has an effect: the program reads every one of them', () => {
    const src = join(import.meta.dirname, '../../src')
    const readers = readdirSync(src, { recursive: true, encoding: 'utf8' })
      .filter(name => name.endsWith('.ts') && !name.startsWith('settings'))
      .map(name => readFileSync(join(src, name), 'utf8'))
      .join('\n')
    const unread = Object.keys(settings).filter(name => !new RegExp(`\\b${name}\\b`).test(readers))
    expect(unread).toEqual([])
  })

  it('has a default that its own schema accepts, and one variable per setting', () => {
    const all = Object.values<Setting>(settings)
    for (const one of all) {
      if (one.default !== undefined)
        expect([one.env, one.schema.safeParse(one.default).success]).toEqual([one.env, true])
    }
    expect(new Set(all.map(one => one.env)).size).toBe(all.length)
  })
})
