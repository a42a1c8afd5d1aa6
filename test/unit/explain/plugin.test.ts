import { causeCodes } from '../../../src/core/diagnosis/cause.js'
import { pluginAdvice } from '../../../src/core/explain/advice/plugin.js'
import { explain } from '../../../src/core/explain/explain.js'
import { readCase } from '../../../src/core/report/read-case.js'
import { imageRules } from '../../../src/core/explain/rules/plugin-image.js'
import {
  agent,
  eachRow,
  event,
  type Inputs,
  noSocket,
  ran,
  type Row,
  setup,
  uninitialized,
} from './plugin-seen.js'

const images: Row[] = [
  [
    'image-cannot-be-pulled',
    'with a reason',
    event('Failed to pull image "a/b:1": toomanyrequests: You have reached your pull rate limit'),
    ['image-pull proves'],
  ],
  ['image-cannot-be-pulled', 'without one', event('Back-off pulling image "a/b:1"'), ['image-pull supports']],
  [
    'image-cannot-be-pulled',
    "the agent's",
    event('Failed to pull image "cilium/cilium:v1": dial tcp 203.0.113.7:443: i/o timeout', {
      object: 'pod/cilium-9tq4x',
    }),
    ['image-pull proves', 'cni-agent-down supports'],
  ],
  ['image-cannot-be-pulled', 'the network', noSocket, []],
  [
    'pods-wait-for-image',
    'an application',
    { pods: ['a web-0 0/1 ImagePullBackOff 0 5m <none> n1'] },
    ['image-pull supports'],
  ],
  [
    'pods-wait-for-image',
    'the agent',
    agent('Init:ErrImagePull'),
    ['image-pull supports', 'cni-agent-down supports'],
  ],
  ['pods-wait-for-image', 'a crash', agent('CrashLoopBackOff'), []],
  [
    'plugin-symptom',
    'a pasted message',
    { symptom: 'what is this: cni plugin not initialized' },
    ['cni-config-missing hints'],
  ],
  ['plugin-symptom', 'a feeling', { symptom: 'network is broken again' }, []],
]

describe('P-R3 what each rule on images says', () => {
  eachRow([...imageRules, { name: 'plugin-symptom' }], images)
})

const family = causeCodes.filter(code => /^(?:cni-(?!del)|runtime-error|image-pull)/.test(code))

describe('P-P5 what to do about them', () => {
  it.each(family)('%s has advice with an action, whatever its way', cause => {
    const plain = pluginAdvice.find(each => each.cause === cause && each.way === undefined)
    expect(plain?.actions.length).toBeGreaterThan(0)
  })

  it('has an action, a warning and a question in every advice, and none twice', () => {
    const keys = pluginAdvice.map(({ cause, way }) => `${cause} ${way ?? ''}`)
    expect(new Set(keys).size).toBe(keys.length)
    expect(
      pluginAdvice.filter(
        ({ actions, warnings, askFor }) => actions.length * warnings.length * askFor.length === 0,
      ),
    ).toEqual([])
  })
})

describe('P-R1 P-R3 which one is the cause', () => {
  const answer = (inputs: Inputs, environment: Inputs = {}) => explain(readCase({ inputs, environment }))

  it('names the image where the agent waits for it, and the agent beside it', () => {
    const seen = {
      ...event('Failed to pull image "cilium/cilium:v1": i/o timeout', { object: 'pod/cilium-9tq4x' }),
      ...agent('Init:ImagePullBackOff'),
      ...uninitialized,
    }
    expect(answer(seen)).toMatchObject({
      cause: 'image-pull',
      also: expect.arrayContaining(['cni-agent-down', 'cni-config-missing']),
    })
  })

  it('names the crashing agent, not the configuration that it did not write', () => {
    expect(answer({ ...uninitialized, ...agent('CrashLoopBackOff') })).toMatchObject({
      cause: 'cni-agent-down',
      also: ['cni-config-missing'],
    })
  })

  it('only waits for an agent that comes up after a boot, and offers no change', () => {
    const young = {
      ...event('open /run/flannel/subnet.env: no such file or directory', { over: '50s' }),
      pods: ['kube-flannel-ds-x7k4p 0/1 Init:0/1 1 21d 10.1.0.4 n1'],
      ...ran('uptime -p', 'up 2 minutes'),
    }
    const { actions, changes, escalate_to: whom } = answer(young)
    expect(actions[0]?.kind).toBe('wait')
    expect({ changes, whom }).toEqual({ changes: [], whom: null })
  })

  it('is not sure of the agent where kube-proxy crashes beside it', () => {
    const both = {
      ...noSocket,
      pods: [
        'cilium-9tq4x 0/1 CrashLoopBackOff 9 1h 10.1.0.4 n1',
        'kube-proxy-x1x1x 0/1 CrashLoopBackOff 9 1h 10.1.0.4 n1',
      ],
    }
    expect(answer(both)).toMatchObject({ cause: 'cni-agent-down', confidence: 'low' })
  })

  it('takes a refusal of a plugin that was removed for a file that stayed', () => {
    const left = {
      ...event(`${setup}: plugin type="multus" name="multus-cni-network" failed (add): Unauthorized`),
      ...ran('ls /etc/cni/net.d', '00-multus.conf  05-cilium.conflist'),
    }
    expect(answer(left, { cni: 'cilium' })).toMatchObject({ cause: 'cni-config-wrong', confidence: 'high' })
  })
})
