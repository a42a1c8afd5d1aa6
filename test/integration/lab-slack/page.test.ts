import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals'
import type { App, BlockAction, ButtonAction } from '@slack/bolt'
import type { Browser, Page } from 'playwright-core'
import { type LocalSlack, startSlack } from '../../lab/slack/index.js'
import { pageAssets } from '../../lab/slack/page/bundle.js'
import { startApp } from './bolt-app.js'
import { keepPicture, openBrowser, wordsOf } from './browser.js'
import { evidence, head, holdModal, plan, tickets } from './story.js'

let browser: Browser
let slack: LocalSlack
let app: App
let page: Page
let channel: string
let root: string
const clicks: { user: string; action: string; value: string | undefined }[] = []
/** What the browser complained of: errors of the page, and what its policy had to stop. */
const troubles: string[] = []

beforeAll(async () => {
  browser = await openBrowser()
  // Bundled here, so that the first test does not wait for it.
  await pageAssets()
})
afterAll(() => browser.close())

const register = (it: App): void => {
  it.action<BlockAction<ButtonAction>>(/.*/, async ({ ack, body, client, action }) => {
    await ack()
    clicks.push({ user: body.user.name ?? '', action: action.action_id, value: action.value })
    const thread_ts = body.message?.thread_ts as string | undefined
    if (action.action_id === 'hold') await client.views.open({ trigger_id: body.trigger_id, view: holdModal })
    else if (body.user.name === 'developer') {
      const text = 'You are not on the approver list for *medium* steps.'
      const user = body.user.id
      await client.chat.postEphemeral({
        channel,
        user,
        text,
        ...(thread_ts === undefined ? {} : { thread_ts }),
      })
    } else {
      await client.chat.update({
        channel,
        ts: body.message?.ts ?? '',
        text: `Approved by <@${body.user.id}>`,
        blocks: [],
      })
    }
  })
  it.view('hold', async ({ ack, view }) => {
    const why = view.state.values.why?.text?.value ?? ''
    if (why === 'because') return ack({ response_action: 'errors', errors: { why: 'Say until when' } })
    await ack()
    await it.client.chat.postMessage({ channel, thread_ts: root, text: `Held: ${why}` })
  })
  it.command('/cni', async ({ ack, command }) =>
    ack(`No node \`${command.text.split(' ')[1]}\`. Did you mean node-07?`),
  )
}

beforeEach(async () => {
  slack = await startSlack({ clock: { now: () => Date.UTC(2026, 5, 17, 11, 31, 7) } })
  channel = slack.channelId('incidents')
  app = await startApp(slack, register)
  clicks.length = 0
  troubles.length = 0
  root = (await app.client.chat.postMessage({ channel, ...head })).ts ?? ''
  for (const message of [tickets, evidence, plan]) {
    await app.client.chat.postMessage({ channel, thread_ts: root, ...message })
  }
  const content = Array.from(
    { length: 30 },
    (_, n) => `10.244.7.${n + 2}  4d9f2ab7c1e0  no such sandbox`,
  ).join('\n')
  await app.client.filesUploadV2({
    channel_id: channel,
    thread_ts: root,
    filename: 'node-07-evidence.txt',
    content,
  })
  await slack.waitFor(it => it.messages(channel, root)[4], 5_000, 'the file')
  page = await browser.newPage({ viewport: { width: 1500, height: 1000 } })
  page.setDefaultTimeout(40_000)
  page.on('pageerror', error => troubles.push(String(error)))
  page.on('console', line => line.type() === 'error' && troubles.push(line.text()))
})
afterEach(async () => {
  await page.close()
  await app.stop()
  await slack.close()
  expect(troubles).toEqual([])
})

const inThread = (selector: string) => page.getByTestId('thread-pane').locator(selector)
const openThread = async (): Promise<void> => {
  await page.goto(`${slack.pageUrl}#${channel}/${root}`)
  await page.getByTestId('thread-pane').locator('[data-ts]').nth(4).waitFor()
}

test('a channel with its thread: the replies open it, blocks and the file are readable', async () => {
  await page.goto(slack.pageUrl)
  await page.locator(`[data-ts="${root}"]`).getByTestId('replies').click()
  await inThread('[data-block-type="table"]').waitFor()
  expect(page.url()).toContain(`#${channel}/${root}`)
  const text = await wordsOf(page.getByTestId('thread-pane'))
  for (const part of [
    'Evidence, Wed 11:31:07',
    'without a sandbox: 212',
    'node-11',
    'node-07-evidence.txt',
  ]) {
    expect(text).toContain(part)
  }
  await keepPicture(page, 'thread')
  await page.emulateMedia({ colorScheme: 'dark' })
  await keepPicture(page, 'thread-dark')
})

test('C5: a button with a confirm dialog sends a real click, in the name of who is looking', async () => {
  await openThread()
  await page.getByTestId('user-switch').selectOption('developer')
  await inThread('[data-action-id="approve"]').click()
  await keepPicture(page, 'confirm')
  await page.getByTestId('confirm-no').click()
  expect(clicks).toEqual([])
  await inThread('[data-action-id="approve"]').click()
  await page.getByTestId('confirm-yes').click()
  await inThread('[data-ephemeral]').getByText('You are not on the approver list').waitFor()
  await keepPicture(page, 'refused')
  await page.getByTestId('user-switch').selectOption('approver')
  await inThread('[data-ephemeral]').waitFor({ state: 'detached' })
  await inThread('[data-action-id="approve"]').click()
  await page.getByTestId('confirm-yes').click()
  await inThread('.edited').waitFor()
  expect(await wordsOf(page.getByTestId('thread-pane'))).toContain('Approved by @On-call approver')
  expect(clicks).toEqual([
    { user: 'developer', action: 'approve', value: 'run-1:7f3a' },
    { user: 'approver', action: 'approve', value: 'run-1:7f3a' },
  ])
})

test('a modal opens, shows what is wrong with it, and closes when the app takes it', async () => {
  await openThread()
  await inThread('[data-action-id="hold"]').click()
  const modal = page.getByTestId('modal')
  await modal.waitFor()
  await page.getByTestId('modal-submit').click()
  await modal.getByText('Please complete this required field.').waitFor()
  await modal.locator('textarea[data-action-id="text"]').fill('because')
  await modal.getByText('No new Pods until then').click()
  await page.getByTestId('modal-submit').click()
  await modal.getByText('Say until when').waitFor()
  await keepPicture(page, 'modal')
  await modal.locator('textarea[data-action-id="text"]').fill('until the window at noon')
  await page.getByTestId('modal-submit').click()
  await modal.waitFor({ state: 'detached' })
  await inThread('[data-ts]').getByText('Held: until the window at noon').waitFor()
})

test('a permalink opens the thread and points at the reply', async () => {
  const ts = slack.messages(channel, root)[2]?.ts ?? ''
  const { permalink = '' } = await app.client.chat.getPermalink({ channel, message_ts: ts })
  await page.goto(permalink)
  await inThread('.pointed').waitFor()
  expect(await inThread('.pointed').getAttribute('data-ts')).toBe(ts)
})

test('C7: a command typed into the message box is answered to this person only', async () => {
  await page.goto(slack.pageUrl)
  const box = page.getByTestId('message-box')
  await box.fill('/cni diagnose node-7')
  await box.press('Enter')
  await page.locator('[data-ephemeral]').getByText('Did you mean node-07?').waitFor()
  await keepPicture(page, 'command')
  await box.fill('thank you <b>')
  await box.press('Enter')
  await page.locator('[data-ts]').getByText('thank you <b>').waitFor()
  expect(slack.messages(channel).at(-1)).toMatchObject({
    text: 'thank you &lt;b&gt;',
    user: slack.userId('approver'),
  })
})

test('a click that nobody acknowledges shows a mark at the button', async () => {
  await openThread()
  await app.stop()
  await slack.waitFor(it => it.connections() === 0 || undefined, 10_000, 'the app to be gone')
  await inThread('[data-action-id="hold"]').click()
  await inThread('[data-testid="action-failure"]').waitFor()
})
