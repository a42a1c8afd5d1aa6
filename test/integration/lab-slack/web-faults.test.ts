import { afterEach, beforeEach, expect, test } from '@jest/globals'
import type { WebClient } from '@slack/web-api'
import { type LocalSlack, startSlack } from '../../lab/slack/index.js'
import { webClient } from './bolt-app.js'

let slack: LocalSlack
let web: WebClient
let channel: string

beforeEach(async () => {
  slack = await startSlack()
  web = webClient(slack)
  channel = slack.channelId('incidents')
})
afterEach(() => slack.close())

test('a channel answers 429 with Retry-After while others are served', async () => {
  slack.faults.rateLimit(channel, 7)
  const limited = web.chat.postMessage({ channel, text: 'a' })
  await expect(limited).rejects.toMatchObject({ code: 'slack_webapi_rate_limited_error', retryAfter: 7 })
  const other = webClient(slack).chat.postMessage({ channel: slack.channelId('alerts'), text: 'a' })
  await expect(other).resolves.toMatchObject({ ok: true })
  await expect(webClient(slack).chat.postMessage({ channel, text: 'a' })).resolves.toMatchObject({
    ok: true,
  })
})

test('a 500 after storing leaves one message that the caller does not know of', async () => {
  const before = slack.messages('incidents').length
  slack.faults.failAfterStoring('chat.postMessage')
  await expect(webClient(slack).chat.postMessage({ channel, text: 'stored' })).rejects.toThrow()
  expect(
    slack
      .messages('incidents')
      .slice(before)
      .map(message => message.text),
  ).toEqual(['stored'])
})

test('a refusal by code, and a delay that a client with a timeout gives up on', async () => {
  slack.faults.failBefore('usergroups.users.list', { code: 'plan_upgrade_required' })
  const group = { usergroup: slack.groupId('sre-oncall') }
  await expect(web.usergroups.users.list(group)).rejects.toMatchObject({
    data: { error: 'plan_upgrade_required' },
  })
  slack.faults.delay('auth.test', 2_000)
  const headers = { authorization: `Bearer ${slack.botToken}` }
  const hasty = fetch(`${slack.apiUrl}auth.test`, {
    method: 'POST',
    headers,
    signal: AbortSignal.timeout(100),
  })
  await expect(hasty).rejects.toMatchObject({ name: 'TimeoutError' })
})
