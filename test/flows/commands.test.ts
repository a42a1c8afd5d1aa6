import { type IncidentEvent, incidentStream, runStream } from '../../src/core/incident/incident.js'
import type { RunEvent } from '../../src/core/runbook/run.js'
import { answerCommand, type CommandDeps } from '../../src/flows/answer-command.js'
import { closedChannels } from '../../src/flows/closed-channels.js'
import { type FleetEvent, fleetStream } from '../../src/flows/fleet.js'
import { publishStorm } from '../../src/flows/publish-storm.js'
import { publishThread } from '../../src/flows/publish-thread.js'
import type { Block } from '../../src/view/blocks.js'
import { fakeCluster, fakeNode } from '../fakes/cluster.js'
import { fakeLog } from '../fakes/log.js'
import { FakeThread } from '../fakes/thread.js'
import { digest, event, opened, planned, t0 } from '../unit/runbook/runs.js'
import type { Message } from '../../src/ports.js'
import * as words from '../unit/view/shown.js'
import { clickWorld } from './click-world.js'

const run = 'node-07.1-r1'
const blocksOf = ({ text, blocks }: Message) => ({
  text,
  blocks: blocks.filter(
    (block): block is Block => typeof block === 'object' && block !== null && 'type' in block,
  ),
})
const shown = (message: Message): string => words.shown(blocksOf(message))
const buttonsOf = (message: Message): string[] => words.buttonsOf(blocksOf(message))

const world = async (paused = false) => {
  const made = await clickWorld({ paused, approvers: ['U11', 'U22'] })
  const deps: CommandDeps = {
    ...made.deps,
    cluster: fakeCluster({ nodes: [fakeNode('node-07'), fakeNode('node-08')] }),
    log: fakeLog(),
    settings: { ...made.deps.settings, timeZone: 'UTC' },
  }
  const type = async (text: string, by = 'U11') => {
    const { message, inChannel = false } = await answerCommand(deps)({ text, by, channel: 'C1', id: text })
    return { text: shown(message), inChannel }
  }
  const runOf = (...events: RunEvent[]) => made.history.append<RunEvent>(runStream(run), 0, events)
  return { ...made, type, runOf }
}

describe('B9: /cni pause and /cni resume', () => {
  test('an approver pauses with a reason, for all to read, and the status says so', async () => {
    const { type, history } = await world()
    const paused = await type('pause the network is being rebuilt')
    expect(paused.inChannel).toBe(true)
    expect(paused.text).toContain('*Changes are paused* by <@U11>: the network is being rebuilt.')
    expect((await history.read<FleetEvent>(fleetStream)).events).toEqual([
      { at: t0 + 10_000, type: 'Paused', by: 'U11', why: 'the network is being rebuilt' },
    ])
    expect((await type('status', 'U99')).text).toContain(
      '*Changes are paused* by <@U11> since Wed 11:31: the network is being rebuilt.',
    )
    expect((await type('resume')).text).toContain('<@U11> ended the pause')
    expect((await type('status')).text).not.toContain('paused')
  })

  test.each(['pause', 'resume', 'resume storm'])(
    '%s by somebody else is refused, visibly to them alone',
    async command => {
      const { type, history } = await world()
      const answer = await type(command, 'U99')
      expect(answer).toEqual({
        text: 'You are not on the approver list. @sre-oncall may decide this.',
        inChannel: false,
      })
      expect((await history.read(fleetStream)).length).toBe(0)
    },
  )

  test('the setting is told as the operator’s', async () => {
    const { type } = await world(true)
    expect((await type('status')).text).toContain(
      '*Changes are paused* by the operator: CNIBOT_PAUSED is set.',
    )
  })

  test('a reason cannot mention a channel or forge words of ours', async () => {
    const { type } = await world()
    expect((await type('pause <!channel> <@U123> `x`')).text).not.toMatch(/<!channel>|`x`/)
  })
})

describe('B2: everything an approver saw is on record and can be shown again', () => {
  const plan = (index: number, title: string, digest: string): RunEvent => {
    const made = planned(index, 'cordon') as RunEvent & { type: 'StepPlanned' }
    const rows = ['10.244.7.9  4d9f  no sandbox', '10.244.7.10  5e0a  no sandbox']
    const lists = [{ title: 'Removes', rows }]
    const commands = ['PATCH /api/v1/nodes/node-07']
    return {
      ...made,
      digest,
      approvals: 2,
      plan: { ...made.plan, title, lists, commands, facts: ['A fact.'] },
    }
  }
  const other = 'b'.repeat(64)
  const story = [
    opened(),
    plan(0, 'Cordon node-07', other),
    { ...event(1_000, 'StepApproved', { index: 0, digest: other }), by: 'U11' },
    event(2_000, 'PlanOutdated', { index: 0, why: 'This plan has expired.' }),
    plan(0, 'Cordon node-07 again', digest),
    { ...event(3_000, 'StepApproved', { index: 0, digest }), by: 'U11' },
    { ...event(4_000, 'StepApproved', { index: 0, digest }), by: 'U22' },
    event(5_000, 'StepStarted', { index: 0 }),
    event(6_000, 'StepDone', {
      index: 0,
      done: { kind: 'cordon', changed: true, says: 'cordoned', commands: [] },
    }),
  ] as RunEvent[]

  test('/cni show lists every plan of a run, the expired one too, with who decided and when', async () => {
    const { type, runOf } = await world()
    await runOf(...story)
    const { text } = await type(`show ${run}`, 'U99')
    expect(text).toContain('1. *Cordon node-07* · plan `bbbb·bbbb` · seen 11:31:00')
    expect(text).toContain('1 of 2 approved, by <@U11> 11:31:01; given up 11:31:02: This plan has expired.')
    expect(text).toContain(
      'Approved by <@U11> 11:31:03 and <@U22> 11:31:04; begun 11:31:05; done 11:31:06: cordoned',
    )
  })

  test('/cni show with a step posts the plan as it was seen: facts, every row, commands, and no button', async () => {
    const { type, runOf } = await world()
    await runOf(...story)
    const { text } = await type(`show ${run} 1`)
    for (const part of [
      'Cordon node-07 again',
      'A fact.',
      '10.244.7.10  5e0a',
      'PATCH /api/v1/nodes/node-07',
    ])
      expect(text).toContain(part)
    expect(text).toContain('*As it was seen* 18 Nov 11:31')
    expect(text).not.toContain('cnibot:')
    expect((await type(`show ${run} 1 bbbb·bb`)).text).toContain('*Approve: Cordon node-07*')
  })

  test('/cni show still tells what a step did once it is undone', async () => {
    const { type, runOf } = await world()
    const undone = [
      event(7_000, 'StepFailed', { index: 1, error: { class: 'failed', message: 'no', output: '' } }),
      event(8_000, 'UndoAsked'),
      event(9_000, 'UndoStarted', { index: 0 }),
      event(10_000, 'UndoDone', { index: 0, says: 'schedulable again' }),
    ]
    await runOf(...story, ...undone)
    const { text } = await type(`show ${run}`)
    expect(text).toContain('done 11:31:06: cordoned; undone 11:31:10: schedulable again')
  })

  test('P-A2: /cni show with choice posts the comparison that the run was chosen on, and no button', async () => {
    const { type, runOf, history } = await world()
    await runOf(opened())
    expect((await type(`show ${run} choice`)).text).toContain('was opened without a comparison of repairs')
    const { events, length } = await history.read<IncidentEvent>(incidentStream('node-07'))
    const compared = (readAt: number, unknown: string): IncidentEvent => ({
      at: readAt,
      by: 'cnibot',
      type: 'RepairsCompared',
      comparison: { readAt, addresses: { unknown }, pods: { unknown: 'none' }, past: {} },
    })
    const at = (events.at(-1)?.at ?? 0) + 1
    await history.append<IncidentEvent>(incidentStream('node-07'), length, [
      compared(at, 'an older look'),
      compared(at + 1, 'the last look'),
      { at: at + 2, by: 'U11', type: 'RunOpened', run, runbook: 'small' },
      compared(at + 3, 'a look after it'),
    ])
    const { text } = await type(`show ${run} choice`)
    expect(text).toContain('the last look')
    expect(text).not.toMatch(/an older look|a look after it|cnibot:/)
    expect((await type(`show ${run}`)).text).toContain(`/cni show ${run} choice`)
  })

  test('a step or a run that is not there is told with what is', async () => {
    const { type, runOf } = await world()
    await runOf(...story)
    expect((await type(`show ${run} 9`)).text).toContain(
      'Step 9 of node-07.1-r1 has no plan on record. Its steps: 1 cordon',
    )
    expect((await type('show node-99.1-r1')).text).toContain('No run is called node-99.1-r1')
  })

  test('/cni history tells who did what about a node', async () => {
    const { type, click } = await world()
    await click('U11', { action: 'hold' })
    await click('U22', { action: 'reconcile' })
    const { text } = await type('history node-07', 'U99')
    expect(text).toContain('opened: node-07 is full')
    expect(text).toContain('held by <@U11>')
    expect(text).toContain(`run \`${run}\` (leak-reconcile) opened by <@U22>`)
    expect((await type('history node-08')).text).toContain('*node-08*: 1 entry')
    expect((await type('history nod-08')).text).toContain('Did you mean *node-08*?')
  })
})

describe('B9: the message of a storm', () => {
  const drawn = async (...events: FleetEvent[]) => {
    const { history, clock } = await world()
    const thread = new FakeThread()
    const settings = { channel: 'C1', timeZone: 'UTC', escalateTo: '@platform' }
    const draw = publishStorm({ clusterName: 'prod-eu1', history, thread, clock, settings })
    for (const each of events) {
      await history.append<FleetEvent>(fleetStream, (await history.read(fleetStream)).length, [each])
      await draw()
      await draw()
    }
    return thread
  }
  const seen = (nodes: string[]): FleetEvent => ({ at: t0, type: 'StormSeen', nodes })

  test('one message for all of its nodes, edited as it grows, that says whose turn it is', async () => {
    const thread = await drawn(seen(['node-01', 'node-02']), seen(['node-01', 'node-02', 'node-03']))
    expect(thread.posts).toHaveLength(1)
    expect(thread.posts[0]?.edits).toBe(1)
    const text = shown(thread.posts[0]!.message)
    expect(text).toContain('*Pods get stuck on 3 nodes at once* · prod-eu1')
    expect(text).toContain('are not the fault of one node')
    expect(text).toContain('@platform *must act*')
  })

  test('when it is over it says so, and the next one is another message', async () => {
    const over: FleetEvent = { at: t0 + 60_000, type: 'Resumed', by: 'U11' }
    const thread = await drawn(seen(['node-01']), over, { ...seen(['node-02']), at: t0 + 120_000 })
    expect(thread.posts).toHaveLength(2)
    expect(shown(thread.posts[0]!.message)).toContain('*Storm over after 60 s* · prod-eu1')
    expect(shown(thread.posts[0]!.message)).toContain('<@U11> declared it over')
  })
})

describe('B9: the threads of single nodes', () => {
  const threads = async (...events: FleetEvent[]) => {
    const { history, clock } = await world()
    await history.append<FleetEvent>(fleetStream, 0, events)
    const thread = new FakeThread()
    const log = fakeLog()
    const publish = publishThread({
      clusterName: 'prod-eu1',
      history,
      thread,
      clock,
      log,
      closedChannels: closedChannels(clock, log),
      approversNamed: '@sre-oncall',
      settings: { channel: 'C1', incidentWindowMs: 86_400_000, timeZone: 'UTC' },
    })
    return { history, thread, publish }
  }
  const storm: FleetEvent = { at: t0, type: 'StormSeen', nodes: ['node-07'] }

  test('a node of a storm gets none while it lasts, and its own when it is over', async () => {
    const { history, thread, publish } = await threads(storm)
    await publish({ node: 'node-07' })
    expect(thread.posts).toEqual([])
    await publish({ node: 'node-08' })
    expect(thread.posts.length).toBeGreaterThan(0)
    const before = thread.posts.length
    await history.append<FleetEvent>(fleetStream, 1, [{ at: t0 + 1, type: 'StormOver' }])
    await publish({ node: 'node-07' })
    expect(thread.posts.length).toBeGreaterThan(before)
  })

  test('one that was begun before says so, and offers no repair', async () => {
    const { history, thread, publish } = await threads()
    await publish({ node: 'node-07' })
    const head = () => thread.posts[0]!.message
    expect(buttonsOf(head()).join()).toContain('cnibot:cordon')
    await history.append<FleetEvent>(fleetStream, 0, [storm])
    await publish({ node: 'node-07' })
    expect(shown(head())).toContain('*Many nodes broke at once*, this one among them')
    expect(buttonsOf(head())).toEqual(['cnibot:hold: Hold', 'cnibot:escalate: Escalate'])
  })

  test('paused: the head says by whom and why, and offers no repair; looking goes on', async () => {
    const { thread, publish } = await threads({ at: t0, type: 'Paused', by: 'U11', why: 'a rebuild' })
    await publish({ node: 'node-07' })
    const head = thread.posts[0]!.message
    expect(shown(head)).toContain(
      '*Changes are paused* by <@U11> since Wed 11:31: a rebuild. No repair is offered',
    )
    expect(buttonsOf(head)).toEqual([
      'cnibot:compare: Compare repairs',
      'cnibot:hold: Hold',
      'cnibot:escalate: Escalate',
    ])
  })
})
