import type { Answer, NodeAnswers } from '../../../src/core/evidence/bundle.js'
import { readNodeAnswers } from '../../../src/core/evidence/parse/answers.js'
import { output, type Part, probeText } from './probe-text.js'

const asked = { at: Date.parse('2026-11-04T11:29:59Z'), now: Date.parse('2026-11-04T11:30:10Z') }

const value = <T>(answer: Answer<T>): T => {
  if ('value' in answer) return answer.value
  throw new Error(answer.reason)
}
const reason = (answer: Answer<unknown>): string => ('value' in answer ? 'known' : answer.reason)
const read = (parts: Record<string, Part>, change = {}): NodeAnswers =>
  readNodeAnswers(output(probeText(parts), change), asked)

const conflist = JSON.stringify({
  cniVersion: '1.0.0',
  name: 'cbr0',
  plugins: [
    {
      type: 'bridge',
      ipam: {
        type: 'host-local',
        dataDir: '/data',
        ranges: [[{ subnet: '10.1.0.0/24', gateway: '10.1.0.9' }]],
      },
    },
    { type: 'portmap' },
  ],
})
const file = (path: string, text: string): string =>
  [`@${path}`, ...text.split('\n').map(line => `|${line}`)].join('\n')
const first = '/etc/cni/net.d/10-a.conflist'

describe('P-E3: conflist', () => {
  const conf = (body: string, runtime = 'containerd'): NodeAnswers['conflist'] =>
    read({
      conflist: { body },
      runtime: {
        body: `endpoint unix:///run/x.sock\nfrom f\nRuntimeName:  ${runtime}\nRuntimeVersion:  v1.7.0`,
      },
    }).conflist

  test('network, data folder, ranges and plugins', () => {
    expect(value(conf(file(first, conflist)))).toEqual({
      path: first,
      name: 'cbr0',
      cniVersion: '1.0.0',
      plugins: ['bridge', 'portmap'],
      ipam: {
        type: 'host-local',
        dataDir: '/data',
        rangeSets: [[{ subnet: '10.1.0.0/24', gateway: '10.1.0.9' }]],
      },
      others: [],
    })
  })
  test('a .conf of one plugin with the old single subnet', () => {
    const old = JSON.stringify({
      name: 'n',
      type: 'ptp',
      ipam: { type: 'host-local', subnet: '10.2.0.0/25', rangeStart: '10.2.0.10' },
    })
    expect(value(conf(file('/etc/cni/net.d/a.conf', old)))).toMatchObject({
      name: 'n',
      cniVersion: undefined,
      ipam: {
        dataDir: '/var/lib/cni/networks',
        rangeSets: [[{ subnet: '10.2.0.0/25', rangeStart: '10.2.0.10' }]],
      },
    })
  })
  test('flannel takes its range from the agent’s file', () => {
    const flannel = JSON.stringify({
      name: 'cbr0',
      plugins: [{ type: 'flannel', delegate: { isDefaultGateway: true } }],
    })
    const env =
      'FLANNEL_NETWORK=10.244.0.0/16\nFLANNEL_SUBNET=10.244.7.1/24\nFLANNEL_IPV6_SUBNET=fd00:10:244:7::1/64\n'
    expect(value(conf(`${file(first, flannel)}\n${file('/run/flannel/subnet.env', env)}`)).ipam).toEqual({
      type: 'host-local',
      dataDir: '/var/lib/cni/networks',
      rangeSets: [[{ subnet: '10.244.7.0/24' }], [{ subnet: 'fd00:10:244:7::/64' }]],
    })
  })
  test('of two files the first by name is read and the other named', () => {
    const both = `${file(first, conflist)}\n${file('/etc/cni/net.d/99-b.conflist', conflist.replace('cbr0', 'other'))}`
    expect(value(conf(both))).toMatchObject({ name: 'cbr0', others: ['/etc/cni/net.d/99-b.conflist'] })
  })
  test('no JSON: file and place are named; containerd stops there, CRI-O reads the next', () => {
    const both = `${file(first, '{\n  "name": "cbr0",\n  oops }')}\n${file('/etc/cni/net.d/99-b.conflist', conflist)}`
    expect(reason(conf(both))).toBe(
      '/etc/cni/net.d/10-a.conflist: line 3, column 3 is no JSON; repair or remove the file (1 more configuration files there)',
    )
    expect(value(conf(both, 'cri-o'))).toMatchObject({ name: 'cbr0', others: [first] })
  })
  test.each([
    [
      'cut in the middle',
      '{ "cniVersion": "1.0.0", "name": "k8s-pod-net',
      /10-a\.conflist: line 1, column \d+ is no JSON/,
    ],
    ['empty', '', /10-a\.conflist: the file is empty/],
    ['without plugins', '{"name":"x","plugins":[]}', /10-a\.conflist: plugins: /],
    ['without a name', '{"plugins":[{"type":"bridge"}]}', /10-a\.conflist: name: /],
  ])('%s', (_, text, line) => expect(reason(conf(file(first, text)))).toMatch(line))
  test('no file at all', () => {
    expect(reason(conf(''))).toBe(
      '/etc/cni/net.d holds no CNI configuration; is the CNI agent running on this node?',
    )
  })
  test('another allocator is named as it is', () => {
    const calico = JSON.stringify({ name: 'k', plugins: [{ type: 'calico', ipam: { type: 'calico-ipam' } }] })
    expect(value(conf(file(first, calico))).ipam).toMatchObject({ type: 'calico-ipam', rangeSets: [] })
  })
})
