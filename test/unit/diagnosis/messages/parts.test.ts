import { readCniMessage } from '../../../../src/core/diagnosis/cni-message.js'
import { splitMessages } from '../../../../src/core/diagnosis/messages/split-messages.js'
import { knownMessages } from './known.js'

const read = (id: string) => readCniMessage(knownMessages.find(message => message.id === id)?.sample ?? '')

describe('P-E1: what a message names', () => {
  test.each([
    [
      'A14',
      {
        delegates: ['multus', 'flannel', 'host-local'],
        plugin: 'flannel',
        network: 'cbr0',
        pod: 'web-0',
        namespace: 'shop',
      },
    ],
    [
      'A19',
      { plugin: 'bridge', network: 'cbr0', rangeIndex: 1, ranges: ['fd00:10:244:7::1-fd00:10:244:7::ff'] },
    ],
    [
      'A10',
      {
        component: 'kubelet',
        caller: 'cri-o',
        shape: 'klog-structured',
        quoting: 1,
        network: 'crio',
        namespace: 'shop',
      },
    ],
    [
      'A13',
      {
        component: 'kubelet',
        caller: 'kubelet',
        era: { calls: 'kubelet', libcni: 'before-1.0' },
        network: 'cbr0',
      },
    ],
    ['A01', { caller: 'dockershim', era: { calls: 'dockershim', libcni: 'before-1.0' }, shape: 'klog' }],
    ['A11', { component: 'containerd', era: { calls: 'cri', libcni: 'since-1.0' }, shape: 'logrus' }],
    ['A06', { combined: true, shape: 'event', reason: 'FailedCreatePodSandBox' }],
    [
      'D06',
      {
        plugin: 'sriov',
        delegates: ['multus', 'sriov'],
        path: '/opt/cni/bin',
        pod: 'web-1',
        namespace: 'default',
      },
    ],
    ['D26', { quoting: 2, caller: 'cri-o', pod: 'web-0', namespace: 'shop', component: 'kubelet' }],
    ['D33', { port: 4001, component: 'crictl' }],
    ['N11', { plugin: 'calico', path: '/opt/cni/bin/calico' }],
    ['N16', { path: '/run/flannel/subnet.env', plugin: 'flannel' }],
    ['N19', { path: '/run/multus/multus.sock', network: 'multus-cni-network' }],
    ['N25', { port: 50_051 }],
    ['N01', { operation: 'status' }],
    ['N35', { image: 'registry.example/pause:3.6', port: 443 }],
  ])('%s', (id, parts) => {
    expect(read(id)).toMatchObject(parts)
  })

  test('volumes that wait, and the object that is missing', () => {
    expect(
      readCniMessage(
        'Unable to attach or mount volumes: unmounted volumes=[a b], unattached volumes=[c]: timed out',
      ).volumes,
    ).toEqual(['a', 'b'])
    expect(readCniMessage('Error: secret "db-password" not found').object).toBe('db-password')
  })

  test("klog's several lines are one message, with or without the journal's prefix on each", () => {
    const text = [
      'E0503 17:40:32.221314 5493 x.go:193] "RunPodSandbox from runtime service failed" err=<',
      '\trpc error: code = Unknown desc = failed to setup network for sandbox "d45b99965bc1": plugin type="bridge" failed (add): failed to allocate for range 0: no IP addresses available in range set: 10.0.0.1-10.0.0.6',
      ' >',
      'I0503 17:40:33.1 5493 x.go:1] "something else"',
    ].join('\n')
    const messages = splitMessages(text)
    expect(messages).toHaveLength(2)
    expect(messages.map(message => readCniMessage(message).code)).toEqual([
      'IPAM_EXHAUSTED_HOSTLOCAL',
      'OTHER',
    ])
  })
})
