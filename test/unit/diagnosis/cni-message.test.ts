import { readCniMessage } from '../../../src/core/diagnosis/cni-message.js'
import { causesOf, knownMessages, operationOf } from './messages/known.js'

describe('readCniMessage', () => {
  test('every message that was collected is there', () => {
    expect(knownMessages).toHaveLength(115)
  })

  test.each(knownMessages.map(message => [message.id, message.code, message] as const))(
    'P-E1, P-R1: %s is %s, with its causes and its operation',
    (_id, code, message) => {
      const read = readCniMessage(message.sample)
      expect({ code: read.code, causes: read.causes, operation: read.operation }).toEqual({
        code,
        causes: causesOf(message),
        operation: operationOf(message) ?? read.operation,
      })
      expect(read.plain.slice(read.plain.indexOf(read.matched ?? '?'))).toContain(read.matched)
    },
  )

  test('P-E1: the exhaustion message gives plugin, range index and ranges, through the combined prefix and quoting', () => {
    const text =
      '(combined from similar events): Failed to create pod sandbox: rpc error: code = Unknown desc = failed to setup network for sandbox \\"78ac\\": plugin type=\\"multus\\" failed (add): plugin type=\\"bridge\\" failed (add): failed to allocate for range 1: no IP addresses available in range set: 10.0.0.1-10.0.0.6,fd00:10::a-fd00:10::f'
    expect(readCniMessage(text)).toMatchObject({
      kind: 'exhausted',
      plugin: 'bridge',
      delegates: ['multus', 'bridge', 'host-local'],
      rangeIndex: 1,
      ranges: ['10.0.0.1-10.0.0.6', 'fd00:10::a-fd00:10::f'],
      combined: true,
      quoting: 1,
      answers: true,
      notCni: false,
    })
  })

  test('P-E1: plugins before 0.6 name the network instead of ranges', () => {
    expect(readCniMessage('no IP addresses available in network: cbr0; Skipping pod')).toMatchObject({
      kind: 'exhausted',
      network: 'cbr0',
      ranges: [],
      rangeIndex: undefined,
    })
  })

  test.each([
    ['failed to find plugin "portmap" in path [/usr/lib/cni]', 'plugin-missing', false],
    ['cni plugin not initialized', 'config-missing', false],
    [
      'rpc error: code = Unavailable desc = connection error: desc = "transport: Error while dialing: dial unix /run/containerd/containerd.sock: connect: connection refused"',
      'runtime-down',
      false,
    ],
    [
      'rpc error: code = Unavailable desc = error reading from server: read unix @->/run/containerd/containerd.sock: read: connection reset by peer',
      'runtime-down',
      false,
    ],
    [
      'failed to set bridge addr: "cni0" already has an IP address different from 10.244.7.1/24',
      'dataplane',
      true,
    ],
    ['rpc error: code = DeadlineExceeded desc = context deadline exceeded', 'timeout', undefined],
  ])('P-R1: %j is %s; a plugin answered: %s', (text, kind, answers) => {
    expect(readCniMessage(text)).toMatchObject({ kind, answers })
  })

  test('an image that cannot be pulled is not the network', () => {
    expect(
      readCniMessage('failed to get sandbox image "registry.example/pause:3.6": failed to pull image'),
    ).toMatchObject({ kind: 'image', notCni: true })
  })
})
