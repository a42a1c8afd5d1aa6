import { mkdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals'
import type { Browser, Locator, Page } from 'playwright-core'
import { openBrowser, wordsOf } from '../integration/lab-slack/browser.js'
import { tellStory } from '../lab/play.js'
import { brokenNode, full, small } from '../lab/story.js'
import type { World } from '../lab/world.js'
import { openWorld, quiet } from './lab.js'

/** Set when the picture of the README is to be taken anew, in the story's full size. */
const keepsPicture = process.env.CNIBOT_KEEP_PICTURE === '1'
const scale = keepsPicture ? full : small
const leaked = scale.leaked.reduce((sum, count) => sum + count, 0)

const root = fileURLToPath(new URL('../../', import.meta.url))
const artifacts = `${root}artifacts/e2e/`

let world: World
let browser: Browser
let page: Page
/** What the browser complained of. */
const troubles: string[] = []

beforeAll(async () => {
  mkdirSync(artifacts, { recursive: true })
  browser = await openBrowser()
  world = await openWorld(scale.nodes)
  await tellStory(world, quiet, scale)
  page = await browser.newPage({ viewport: { width: 1600, height: 1100 }, deviceScaleFactor: 2 })
  page.setDefaultTimeout(150_000)
  page.on('pageerror', error => troubles.push(String(error)))
  page.on('console', line => line.type() === 'error' && troubles.push(line.text()))
}, 600_000)
afterAll(async () => {
  await browser?.close()
  await world?.stop()
}, 600_000)
afterEach(() => expect(troubles).toEqual([]))

const pane = (): Locator => page.getByTestId('thread-pane')
const threadWords = (): Promise<string> => wordsOf(pane())
const picture = (name: string): Promise<unknown> => page.screenshot({ path: `${artifacts}${name}.png` })
const become = (user: string): Promise<unknown> => page.getByTestId('user-switch').selectOption(user)

/** The evidence down to the journal's lines, for the README. */
const thePicture = async (): Promise<void> => {
  await page.setViewportSize({ width: 1500, height: 1300 })
  const evidence = pane().locator('[data-ts]').filter({ hasText: 'Evidence, Wed 11:3' })
  await evidence.evaluate(element => element.scrollIntoView({ block: 'start' }))
  const last = evidence.locator('[data-block-type="section"]').filter({ hasText: 'DEL failures' })
  const [from, to] = await Promise.all([evidence.boundingBox(), last.boundingBox()])
  if (!from || !to) throw new Error('the evidence is not on the page')
  const clip = { ...from, height: to.y + to.height - from.y + 8 }
  await page.screenshot({ path: `${root}docs/thread.png`, clip })
  await page.setViewportSize({ width: 1600, height: 1100 })
}

/** Clicks like a person: the button in the thread, then yes where Slack asks. */
const click = async (button: Locator): Promise<void> => {
  await button.click()
  const yes = page.getByTestId('confirm-yes')
  await Promise.race([yes.waitFor(), button.waitFor({ state: 'detached' })])
  if (await yes.isVisible()) await yes.click()
}

test('must-show 2: the channel shows the incident, its thread the evidence and the verdict', async () => {
  await page.goto(world.slack.pageUrl)
  const head = page.locator('[data-ts]').filter({ hasText: 'node-07 cannot give new Pods an address' })
  await head.first().getByTestId('replies').click()
  await pane().getByText('Will it come back?').waitFor()
  const words = await threadWords()
  for (const part of [
    'Tickets on node-07',
    'payments/api (Deployment)',
    '253 of 253 taken in 10.244.7.0/24',
    `${leaked} without a sandbox`,
    'The plugin runs and answers',
    'Ready=True',
    'DEL failures',
    `${leaked} addresses leaked on node-07, none left`,
    'Do not restart the kubelet or the runtime',
    'all 253 addresses with their verdicts',
  ])
    expect(words).toContain(part)
  expect(await pane().locator('[data-block-type="table"]').first().innerText()).toContain('Without a sandbox')
  await picture('1-evidence')
  if (keepsPicture) await thePicture()
})

test('must-show 2: a viewer is refused in words that only the viewer sees', async () => {
  await become('approver')
  // Looking changes nothing: no question is asked, and its button stays.
  await pane().locator('[data-action-id="cnibot:compare"]').click()
  await click(pane().locator('[data-action-id="cnibot:reconcile"]'))
  await click(pane().locator('[data-action-id="cnibot:tick"]'))
  await pane().getByText(`Approve: Cordon ${brokenNode}`).waitFor()
  await become('viewer')
  await pane().locator('[data-action-id="cnibot:approve"]').click()
  await page.getByTestId('confirm-yes').click()
  const refusal = pane().locator('[data-ephemeral]').getByText('You are not on the approver list')
  await refusal.waitFor()
  await refusal.scrollIntoViewIfNeeded()
  await picture('2-refused')
  await become('colleague')
  await refusal.waitFor({ state: 'detached' })
  expect(world.api.store.get('nodes', undefined, brokenNode)?.spec?.unschedulable).toBeUndefined()
})

test('must-show 2: an approver reads each plan, approves it, and watches the run to its end', async () => {
  await become('approver')
  const approve = pane().locator('[data-action-id="cnibot:approve"]')
  const ended = pane().getByText('node-07 repaired, being watched')
  for (const plan of [
    `Approve: Cordon ${brokenNode}`,
    `Approve: Remove ${leaked} addresses on ${brokenNode}`,
    `Approve: Test Pod on ${brokenNode}`,
    `Approve: Uncordon ${brokenNode}`,
    `Approve: Test Pod on ${brokenNode} through the scheduler`,
  ]) {
    const message = pane().locator('[data-ts]').filter({ hasText: plan }).last()
    await message.locator('[data-action-id="cnibot:approve"]').waitFor()
    expect(await approve.count()).toBe(1)
    if (plan.includes('Remove')) {
      await message.scrollIntoViewIfNeeded()
      expect(await message.innerText()).toMatch(/sudo -n \S+\/remove-orphans remove --network-dir/)
      await picture('3-plan')
    }
    await click(approve)
  }
  await ended.waitFor()
  const words = await threadWords()
  for (const part of [
    `${leaked} moved, 0 skipped`,
    'and its address came back',
    `platform/node-exporter: ${scale.nodes.length} of ${scale.nodes.length}`,
    'no DEL failures since the repair began',
  ])
    expect(words).toContain(part)
  await pane()
    .getByText('Give leaked addresses back without moving workloads')
    .last()
    .scrollIntoViewIfNeeded()
  await picture('4-repaired')
  expect(world.nodes.node(brokenNode).orphans()).toEqual([])
}, 600_000)

test('must-show 2: a day later the head is green and the count stands in the thread', async () => {
  world.clock.advance(24 * 3_600_000 + 60_000)
  await pane().getByText('node-07 resolved').waitFor()
  const count = pane()
    .getByText(/Counted again/)
    .last()
  await count.scrollIntoViewIfNeeded()
  await picture('5-resolved')
  expect(await threadWords()).toContain('Every address has its sandbox: node-07 is resolved.')
}, 600_000)
