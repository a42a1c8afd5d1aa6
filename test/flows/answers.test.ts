import { type CommandDeps, answerCommand } from '../../src/flows/answer-command.js'
import { publishAnswer } from '../../src/flows/answer-request.js'
import { type RequestEvent, requestStream } from '../../src/flows/request.js'
import { Failed, Unreachable } from '../../src/ports.js'
import { bundleWithoutAnswers } from '../fakes/bundle.js'
import { fakeCluster, fakeNode } from '../fakes/cluster.js'
import { fakeHistory } from '../fakes/history.js'
import { fakeJobs } from '../fakes/jobs.js'
import { fakeLog } from '../fakes/log.js'
import { FakeThread } from '../fakes/thread.js'
import { nothingFound } from '../fakes/verdict.js'

const stream = requestStream('q-1')

/** A person has asked in this channel, and the worker has looked. */
const looked = async (channel: string) => {
  const clock = { time: Date.UTC(2026, 10, 18, 11, 31), now: () => clock.time }
  const history = fakeHistory(clock)
  const thread = new FakeThread()
  const log = fakeLog()
  const deps = {
    clusterName: 'prod-eu1',
    history,
    thread,
    clock,
    log,
    jobs: fakeJobs(clock),
    cluster: fakeCluster({ nodes: [fakeNode('node-07')] }),
    linkTo: async () => undefined,
    approvers: async () => ({ people: ['U1'], named: '@sre-oncall', selfApproval: true }),
    settings: { channel: 'CINCIDENTS', timeZone: 'UTC', incidentWindowMs: 86_400_000, paused: false },
  }
  const command: CommandDeps = deps
  await answerCommand(command)({ text: 'diagnose node-07', by: 'U012', channel, id: 'q-1' })
  await history.keepBundle('b-1', bundleWithoutAnswers('node-07', clock.time), 86_400_000)
  await history.append<RequestEvent>(stream, 1, [
    { at: clock.time, type: 'Looked', bundle: 'b-1', verdict: nothingFound, incident: undefined },
  ])
  const types = async () => (await history.read<RequestEvent>(stream)).events.map(event => event.type)
  const errors = () => log.lines.filter(line => line.level === 'error').map(line => line.message)
  return { clock, history, thread, types, errors, publish: () => publishAnswer(deps)({ request: 'q-1' }) }
}

test('C7: an answer stands in the channel that asked, and its request is no longer listed but read', async () => {
  const { history, thread, types, publish, clock } = await looked('CTEAM')
  expect(await history.streams('request/')).toEqual([stream])
  await publish()
  expect(new Set(thread.posts.map(post => post.channel))).toEqual(new Set(['CTEAM']))
  expect(await types()).toEqual(['Asked', 'Looked', 'Answered'])
  expect(await history.streams('request/')).toEqual([])
  const posts = thread.posts.length
  await publish()
  expect(thread.posts).toHaveLength(posts)
  clock.time += 2 * 86_400_000
  expect((await history.read(stream)).length).toBe(0)
})

test('where the bot may not post, the answer stands in the incident channel with a mention of who asked', async () => {
  const { history, thread, types, publish } = await looked('CTEAM')
  thread.closed.add('CTEAM')
  await publish()
  expect(new Set(thread.posts.map(post => post.channel))).toEqual(new Set(['CINCIDENTS']))
  expect(thread.posts[1]?.message.text).toMatch(
    /^<@U012> asked for \*node-07\* in a channel where this app may not/,
  )
  expect(await types()).toEqual(['Asked', 'Looked', 'Moved', 'Answered'])
  expect(await history.streams('request/')).toEqual([])
})

test('an answer that no channel takes is given up, with the reason in the history and the log', async () => {
  const { history, thread, types, errors, publish } = await looked('CTEAM')
  for (const channel of ['CTEAM', 'CINCIDENTS']) thread.closed.add(channel)
  await publish()
  await publish()
  expect(thread.posts).toEqual([])
  expect(await types()).toEqual(['Asked', 'Looked', 'Moved', 'NotAnswered'])
  expect(errors()).toEqual([expect.stringContaining('is_archived')])
  expect(await history.streams('request/')).toEqual([])
})

test('an answer that Slack refuses is not tried for ever', async () => {
  const { thread, types, publish } = await looked('CTEAM')
  thread.fail(new Failed('Slack refused a post to CTEAM (invalid_blocks)'))
  await publish()
  expect(await types()).toEqual(['Asked', 'Looked', 'NotAnswered'])
})

test('an outage of Slack is waited for: the same answer, once', async () => {
  const { history, thread, types, publish } = await looked('CTEAM')
  thread.fail(new Unreachable('Slack did not answer'))
  await expect(publish()).rejects.toThrow(Unreachable)
  expect(await history.streams('request/')).toEqual([stream])
  await publish()
  expect(await types()).toEqual(['Asked', 'Looked', 'Answered'])
  expect(thread.posts.filter(post => post.threadTs === undefined)).toHaveLength(1)
})
