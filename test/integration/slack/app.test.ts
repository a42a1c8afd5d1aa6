import { setTimeout as pause } from 'node:timers/promises'
import { Failed, type Message } from '../../../src/ports.js'
import {
  type ClickAnswer,
  type CommandAnswer,
  type RunningSlack,
  type SlackClick,
  type SlackCommand,
  type SlackOptions,
  startSlack as startApp,
} from '../../../src/adapters/slack/app.js'
import { actionId, decodeButton, encodeButton, reasonQuestions } from '../../../src/view/button.js'
import { type FakeLog, fakeLog } from '../../fakes/log.js'
import { type LocalSlack, startSlack } from '../../lab/slack/index.js'

const deadline = 10_000
const value = encodeButton({
  action: 'approve',
  cluster: 'prod',
  incident: 'node-07.1',
  run: 'r-1',
  index: 2,
})
const closing = encodeButton({ action: 'close', cluster: 'prod', incident: 'node-07.1' })
const said = (text: string): Message => ({
  text,
  blocks: [{ type: 'section', text: { type: 'mrkdwn', text } }],
})
const blocks = [
  {
    type: 'actions',
    elements: [
      {
        type: 'button',
        action_id: actionId('approve'),
        text: { type: 'plain_text', text: 'Approve' },
        value,
      },
      {
        type: 'button',
        action_id: actionId('close'),
        text: { type: 'plain_text', text: 'Close' },
        value: closing,
      },
    ],
  },
]

let slack: LocalSlack
let app: RunningSlack | undefined
let log: FakeLog
let ts: string
const clicks: SlackClick[] = []
const commands: SlackCommand[] = []
let onClick: (click: SlackClick) => Promise<ClickAnswer>
let onCommand: (command: SlackCommand) => Promise<CommandAnswer>

const start = async (more: Partial<SlackOptions> = {}): Promise<RunningSlack> => {
  const seen = new Set<string>()
  app = await startApp({
    botToken: slack.botToken,
    appToken: slack.appToken,
    apiUrl: slack.apiUrl,
    log,
    reasons: reasonQuestions,
    onClick: click => {
      clicks.push(click)
      return onClick(click)
    },
    onCommand: command => {
      commands.push(command)
      return onCommand(command)
    },
    handled: {
      was: async key => seen.has(key),
      mark: async key => void seen.add(key),
    },
    ...more,
  })
  return app
}

const postAsBot = async (body: object): Promise<string> => {
  const answer = await fetch(`${slack.apiUrl}chat.postMessage`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${slack.botToken}` },
    body: JSON.stringify({ channel: slack.channelId('incidents'), ...body }),
  })
  const { ts: posted } = (await answer.json()) as { ts: string }
  return posted
}

const press = (user: string, action: 'approve' | 'close' = 'approve') =>
  slack.press({ user, channel: 'incidents', ts, actionId: actionId(action) })

/** Acknowledgements change nothing in the workspace, so there is no event to wait for. */
const settled = async (): Promise<void> => {
  const end = performance.now() + deadline
  while (slack.unsettled() > 0) {
    if (performance.now() > end) throw new Error(`${slack.unsettled()} envelopes were never acknowledged`)
    await pause(10)
  }
}

const whispered = (user: string): Promise<string> =>
  slack.waitFor(it => it.ephemerals(user).at(-1)?.text, deadline, `an answer to ${user}`)

beforeEach(async () => {
  slack = await startSlack()
  log = fakeLog()
  clicks.length = 0
  commands.length = 0
  onClick = async () => undefined
  onCommand = async () => undefined
  ts = await postAsBot({ text: 'head', blocks })
})
afterEach(async () => {
  await app?.stop()
  app = undefined
  await slack.close()
})

test('C8: a click arrives once, with who pressed what, and is acknowledged', async () => {
  await start()
  expect(app?.connected()).toBe(2)
  const outcome = await press('approver')
  expect(outcome.acked).toBe(true)
  expect(clicks).toHaveLength(1)
  expect(clicks[0]).toMatchObject({
    user: slack.userId('approver'),
    team: app?.teamId,
    channel: slack.channelId('incidents'),
    messageTs: ts,
    action: 'approve',
    inputs: {},
  })
  expect(decodeButton(clicks[0]?.value ?? '')).toMatchObject({ run: 'r-1', index: 2 })
  expect(slack.ephemerals()).toEqual([])
})

test('an answer is shown to that person alone, in the thread where the button stands', async () => {
  await start()
  const head = ts
  ts = await postAsBot({ text: 'plan', blocks, thread_ts: head })
  onClick = async () => said('You are not on the approver list.')
  await press('developer')
  expect(await whispered('developer')).toBe('You are not on the approver list.')
  expect(slack.ephemerals('developer')[0]?.thread_ts).toBe(head)
  expect(slack.ephemerals('approver')).toEqual([])
})

test('B3: a click that could not be handled is answered with the reason in one line', async () => {
  await start()
  onClick = async () => {
    throw new Failed('the history of <!here> could not be written')
  }
  const outcome = await press('approver')
  expect(outcome.acked).toBe(true)
  expect(await whispered('approver')).toBe(
    'That did not work, because the history of &lt;!here&gt; could not be written.',
  )
})

test('a bug is told without its words, which may hold a secret, and stays in the log', async () => {
  await start()
  onClick = async () => {
    throw new TypeError('xoxb-secret is not a function')
  }
  await press('approver')
  const text = await whispered('approver')
  expect(text).toContain('That did not work, because of an error in the bot')
  expect(text).not.toContain('secret')
  expect(log.lines.some(line => line.level === 'error')).toBe(true)
})

test('a handler slower than Slack waits is acknowledged first and its answer still shown', async () => {
  await start()
  let release: (answer: ClickAnswer) => void = () => {}
  onClick = () =>
    new Promise(resolve => {
      release = resolve
    })
  const outcome = await press('approver')
  expect(outcome.acked).toBe(true)
  release(said('done at last'))
  expect(await whispered('approver')).toBe('done at last')
})

test('an envelope that is delivered twice is handled once', async () => {
  await start()
  slack.faults.duplicateDeliveries(1)
  await press('approver')
  await settled()
  expect(clicks).toHaveLength(1)
})

test('an envelope that comes again after it was handled does nothing, in another process too', async () => {
  const marks = new Set<string>()
  const handled = {
    was: async (key: string) => marks.has(key),
    mark: async (key: string) => void marks.add(key),
  }
  await start({ handled })
  await press('approver')
  const [mark] = marks
  expect(mark).toBe(`click/${clicks[0]?.triggerId}`)
  await app?.stop()
  await slack.waitFor(it => it.connections() === 0, deadline, 'the first process to go')
  await start({ handled: { ...handled, was: async () => true } })
  expect((await press('approver')).acked).toBe(true)
  expect(clicks).toHaveLength(1)
})

test('B3: a click that a dying process had taken and not recorded is handled by the next one', async () => {
  const marks = new Set<string>()
  const handled = {
    was: async (key: string) => marks.has(key),
    mark: async (key: string) => void marks.add(key),
  }
  const recorded: string[] = []
  const processes = new Map<string, RunningSlack>()
  let died: Promise<void> | undefined
  const onClickOf = (name: string) => (click: SlackClick) => {
    if (!died) {
      died = processes.get(name)?.stop()
      return new Promise<ClickAnswer>(() => {})
    }
    recorded.push(click.triggerId)
    return Promise.resolve(undefined)
  }
  for (const name of ['one', 'two'])
    processes.set(name, await start({ handled, connections: 1, onClick: onClickOf(name) }))
  const outcome = await press('approver')
  expect(outcome.acked).toBe(true)
  expect(recorded).toHaveLength(1)
  await died
  for (const each of processes.values()) await each.stop()
})

test('a click that failed may come again', async () => {
  const marks: string[] = []
  await start({ handled: { was: async () => false, mark: async key => void marks.push(key) } })
  onClick = async () => {
    throw new Failed('the history could not be written')
  }
  await press('approver')
  await whispered('approver')
  expect(marks).toEqual([])
})

test('P-P6: closing asks for a reason first, and the click comes with it', async () => {
  await start()
  await press('approver', 'close')
  expect(clicks).toEqual([])
  const view = await slack.waitFor(it => it.view('approver'), deadline, 'the dialog')
  onClick = async click => said(`closed: ${click.inputs.reason}`)
  const submitted = await slack.submitView({
    user: 'approver',
    viewId: view.id,
    values: { reason: { text: 'replaced by a new node' } },
  })
  expect(submitted.acked).toBe(true)
  expect(await whispered('approver')).toBe('closed: replaced by a new node')
  expect(clicks[0]).toMatchObject({
    action: 'close',
    value: closing,
    messageTs: ts,
    user: slack.userId('approver'),
  })
})

test('C7: /cni is answered to the person, or into the channel', async () => {
  await start()
  onCommand = async command => ({ message: said(`you said ${command.text}`) })
  await slack.command({ user: 'developer', channel: 'incidents', text: '/cni diagnose node-07' })
  expect(await whispered('developer')).toBe('you said diagnose node-07')
  onCommand = async () => ({ message: said('for all'), inChannel: true })
  await slack.command({ user: 'developer', channel: 'incidents', text: '/cni status' })
  await slack.waitFor(
    it => it.messages('incidents').some(each => each.text === 'for all' && each.ephemeral_to === undefined),
    deadline,
    'the answer in the channel',
  )
  expect(commands.map(each => each.text)).toEqual(['diagnose node-07', 'status'])
})

test('a command that fails says why', async () => {
  await start()
  onCommand = async () => {
    throw new Failed('the cluster cannot be asked')
  }
  await slack.command({ user: 'developer', channel: 'incidents', text: '/cni status' })
  expect(await whispered('developer')).toBe('That did not work, because the cluster cannot be asked.')
})

test('messages of people, of other bots and of its own are left alone', async () => {
  await start()
  slack.postAs({ user: 'developer', channel: 'incidents', text: 'approve it' })
  slack.postAs({ bot: 'alerts', channel: 'incidents', text: 'node-07 is full' })
  await postAsBot({ text: 'again' })
  await settled()
  expect(clicks).toEqual([])
  expect(slack.messages('incidents')).toHaveLength(4)
})

test('app_rate_limited and a rotation of all connections are survived', async () => {
  await start({ connections: 1 })
  await slack.faults.appRateLimited()
  expect(log.lines.map(line => line.message).join('\n')).toContain('could not be read')
  expect((await press('approver')).acked).toBe(true)
  slack.faults.rotate('refresh_requested')
  await slack.waitFor(it => it.connections() === 0, deadline, 'the old connection to go')
  await slack.waitFor(it => it.connections() === 1, 20_000, 'a new connection')
  const outcome = await press('approver')
  expect(outcome.acked).toBe(true)
  expect(clicks).toHaveLength(2)
})

test('Slack that is down during a reconnect does not end the process', async () => {
  await start({ connections: 1 })
  slack.faults.failBefore('apps.connections.open', { status: 500 }, 4)
  slack.faults.rotate('warning')
  await slack.waitFor(it => it.connections() === 0, deadline, 'the old connection to go')
  await slack.waitFor(it => it.connections() === 1, 40_000, 'a new connection')
  expect((await press('approver')).acked).toBe(true)
  expect(log.lines.map(line => line.message).join('\n')).toContain('Slack cannot be reached, next try in')
})

test('a wrong token is told at the start', async () => {
  await expect(start({ botToken: 'xoxb-wrong' })).rejects.toThrow('invalid_auth')
})
