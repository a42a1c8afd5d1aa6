import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import type { App, BlockAction } from '@slack/bolt'
import type { Block } from '@slack/types'
import type { Browser, Page } from 'playwright-core'
import { type LocalSlack, startSlack } from '../../lab/slack/index.js'
import { pageAssets } from '../../lab/slack/page/bundle.js'
import { startApp } from './bolt-app.js'
import { keepPicture, openBrowser, wordsOf } from './browser.js'

let browser: Browser
let slack: LocalSlack
let app: App
let page: Page
const actions: unknown[] = []

beforeAll(async () => {
  browser = await openBrowser()
  // Bundled here, so that the first test does not wait for it.
  await pageAssets()
})
afterAll(() => browser.close())
beforeEach(async () => {
  slack = await startSlack({ clock: { now: () => Date.UTC(2026, 5, 17, 11, 31, 7) } })
  actions.length = 0
  app = await startApp(slack, it => {
    it.action<BlockAction>(/.*/, async ({ ack, body }) => {
      await ack()
      actions.push(...body.actions)
      await it.client.chat.postMessage({ channel: slack.channelId('alerts'), text: `took ${actions.length}` })
    })
    it.event('app_home_opened', async ({ event, client }) => {
      const text = { type: 'plain_text' as const, text: 'Open incidents: 1' }
      const view = { type: 'home' as const, blocks: [{ type: 'header' as const, text }] }
      await client.views.publish({ user_id: event.user, view })
    })
  })
  page = await browser.newPage({ viewport: { width: 1100, height: 900 } })
  page.setDefaultTimeout(40_000)
})
afterEach(async () => {
  await page.close()
  await app.stop()
  await slack.close()
})

/** Posts as the app and returns what the page makes of it. */
const shown = async (text: string, blocks: object[] = []) => {
  const channel = slack.channelId('incidents')
  const { ts } = await app.client.chat.postMessage({ channel, text, blocks: blocks as Block[] })
  await page.goto(`${slack.pageUrl}#${channel}`)
  const message = page.locator(`[data-ts="${ts}"] .content`)
  await message.waitFor()
  return message
}
const mrkdwn = (text: string) => [{ type: 'section', text: { type: 'mrkdwn', text } }]

describe('hostile text', () => {
  const attack = `<script>document.title='owned'</script><img src=x onerror="document.title='owned'">`
  const places: [string, object[]][] = [
    ['text alone', []],
    ['section', mrkdwn(attack)],
    ['plain text', [{ type: 'header', text: { type: 'plain_text', text: attack } }]],
    ['table', [{ type: 'table', rows: [[{ type: 'raw_text', text: attack }]] }]],
    [
      'rich text',
      [
        {
          type: 'rich_text',
          elements: [{ type: 'rich_text_preformatted', elements: [{ type: 'text', text: attack }] }],
        },
      ],
    ],
  ]

  test.each(places)('markup in %s stays text', async (_name, blocks) => {
    const message = await shown(attack, blocks)
    expect(await wordsOf(message)).toContain('onerror=')
    expect(await message.locator('script, img').count()).toBe(0)
    expect(await page.title()).toBe('Local Slack')
  })

  test('javascript: links are text, in mrkdwn and in rich text', async () => {
    const link = { type: 'link', url: 'javascript:alert(1)', text: 'here' }
    const rich = { type: 'rich_text', elements: [{ type: 'rich_text_section', elements: [link] }] }
    const message = await shown('links', [
      ...mrkdwn('<javascript:alert(1)|click> <https://example.com|fine> <JaVaScRiPt:alert(1)>'),
      rich,
    ])
    const hrefs = await message
      .locator('a')
      .evaluateAll(links => links.map(each => each.getAttribute('href')))
    expect(hrefs).toEqual(['https://example.com'])
    expect(await wordsOf(message)).toContain('click fine JaVaScRiPt:alert(1)')
  })
})

test('mrkdwn is read as Slack reads it', async () => {
  const message = await shown(
    'a',
    mrkdwn(
      [
        'at 10:40:22 · 5*3*2 · snake_case_name · *bold* _it_ ~gone~ :red_circle: :nope:',
        '&lt;b&gt; &amp;amp; `code &lt;x&gt; *not bold*`',
        '&gt; a quote',
        'to <!channel> <@UDEVELOPER> <!subteam^SSREONCALL> <#CALERTS> <!date^1781695867^{date_num} {time_secs}|then>',
        '```line 1\n  line 2```',
      ].join('\n'),
    ),
  )
  const text = await wordsOf(message)
  expect(text).toContain('at 10:40:22 · 5*3*2 · snake_case_name · bold it gone')
  expect(text).toContain(':nope:')
  expect(text).toContain('<b> &amp; code <x> *not bold*')
  expect(text).toContain('to @channel @Developer @sre-oncall #alerts 2026-06-17 11:31:07')
  expect(await message.locator('b:has-text("bold")').count()).toBe(1)
  expect(await wordsOf(message.locator('blockquote'))).toBe('a quote')
  expect(await wordsOf(message.locator('pre'))).toBe('line 1\n  line 2')
  expect(await message.locator('svg[aria-label="🔴"]').count()).toBe(1)
  await keepPicture(page, 'mrkdwn')
})

test('menus, boxes and choices send what was chosen', async () => {
  const option = (value: string) => ({ text: { type: 'plain_text', text: `Node ${value}` }, value })
  const options = [option('1'), option('2')]
  const message = await shown('choose', [
    {
      type: 'actions',
      elements: [
        {
          type: 'static_select',
          action_id: 'menu',
          options,
          placeholder: { type: 'plain_text', text: 'Pick' },
        },
        { type: 'overflow', action_id: 'more', options },
        { type: 'checkboxes', action_id: 'boxes', options },
        { type: 'radio_buttons', action_id: 'radio', options },
      ],
    },
  ])
  const took = (count: number) =>
    slack.waitFor(it => it.messages('alerts').length === count || undefined, 10_000, `${count} actions`)
  await message.locator('select[data-action-id="menu"]').selectOption('2')
  await took(1)
  await message.locator('select[data-action-id="more"]').selectOption('1')
  await took(2)
  await message.locator('[data-action-id="boxes"] input[value="1"]').check()
  await took(3)
  await message.locator('[data-action-id="boxes"] input[value="2"]').check()
  await took(4)
  await message.locator('[data-action-id="radio"] input[value="2"]').check()
  await took(5)
  expect(actions).toMatchObject([
    { type: 'static_select', selected_option: { value: '2' } },
    { type: 'overflow', selected_option: { value: '1' } },
    { type: 'checkboxes', selected_options: [{ value: '1' }] },
    { type: 'checkboxes', selected_options: [{ value: '1' }, { value: '2' }] },
    { type: 'radio_buttons', selected_option: { value: '2' } },
  ])
})

test('App Home is asked for when it is opened, and drawn when it comes', async () => {
  await page.goto(slack.pageUrl)
  await page.getByTestId('app-home').click()
  await page.getByTestId('home').getByText('Open incidents: 1').waitFor()
})
