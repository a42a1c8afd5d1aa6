import { answerCommand, type CommandDeps } from '../../src/flows/answer-command.js'
import type { Block } from '../../src/view/blocks.js'
import { fakeCluster } from '../fakes/cluster.js'
import { fakeLog } from '../fakes/log.js'
import * as words from '../unit/view/shown.js'
import { clickWorld } from './click-world.js'

const isBlock = (block: unknown): block is Block =>
  typeof block === 'object' && block !== null && 'type' in block

const world = async () => {
  const made = await clickWorld({ approvers: ['U11'] })
  const deps: CommandDeps = {
    ...made.deps,
    cluster: fakeCluster({ nodes: [] }),
    log: fakeLog(),
    settings: { ...made.deps.settings, timeZone: 'UTC' },
  }
  const type = async (text: string) => {
    const answer = await answerCommand(deps)({ text, by: 'U99', channel: 'C1', id: text })
    const { message, inChannel = false } = answer
    return { text: words.shown({ text: message.text, blocks: message.blocks.filter(isBlock) }), inChannel }
  }
  return { ...made, type }
}

describe('P-R3: /cni explain', () => {
  const full =
    'Warning  FailedCreatePodSandBox  2m (x14 over 41m)  kubelet  Failed to create pod sandbox: plugin type=“bridge” failed (add): failed to allocate for range 0: no IP addresses available in range set: 10.244.7.1-10.244.7.254'

  test('an event as Slack writes it is explained to who asked alone, and nothing is recorded or queued', async () => {
    const { type, jobs } = await world()
    const before = jobs.waiting().length
    const { text, inChannel } = await type(`explain ${full}`)
    expect(inChannel).toBe(false)
    expect(text).toMatch(/\*Perhaps: (?:The address range is used up|Addresses stay reserved)/)
    expect(text).toMatch(/\*Why:\* /)
    expect(text).toMatch(/\*First:\* /)
    expect(text).toContain('nothing was asked of the cluster')
    // Of two causes of which only one can be, the advice on the other is not given as a fact.
    expect(text).not.toMatch(/their owners live/)
    expect(jobs.waiting()).toHaveLength(before)
  })

  test('several lines, fenced and escaped, are read together', async () => {
    const { type } = await world()
    const { text } = await type(
      'Explain ```E1204 remote_runtime.go] &quot;RunPodSandbox failed&quot; err=&lt;\n failed to find plugin “portmap” in path [/opt/cni/bin]\n &gt;```',
    )
    expect(text).toContain('*A network plugin, or a program it needs, is not installed.* · sure')
  })

  test('what says nothing is said to say nothing', async () => {
    const { type } = await world()
    const { text } = await type('explain the node is odd today')
    expect(text).toContain('*What was read points at no known cause.* · unsure')
    expect(text).toContain('the events of the Pod, whole')
  })

  test('nothing pasted: it says what to paste', async () => {
    const { type } = await world()
    expect((await type('explain')).text).toContain('Paste behind `/cni explain` what is to be explained.')
    expect((await type('explain ``` ```')).text).toContain('Paste behind')
  })

  test('hostile text is shown, not obeyed, and fits in a message', async () => {
    const { type } = await world()
    const { text } = await type(
      `explain <!channel> *x* ${'no IP addresses available in range set '.repeat(3_000)}`,
    )
    expect(text).not.toContain('<!channel>')
    expect(text.length).toBeLessThan(10_000)
  })
})
