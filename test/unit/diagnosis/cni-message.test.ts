import { readFileSync } from 'node:fs'
import { readCniMessage } from '../../../src/core/diagnosis/cni-message.js'

const rows = readFileSync('test/fixtures/messages-add.tsv', 'utf8')
  .trimEnd()
  .split('\n')
  .slice(1)
  .map(line => line.split('\t') as [id: string, kind: string, code: string, sample: string])

describe('readCniMessage', () => {
  test.each(rows.filter(([, , code]) => code !== 'MULTILINE_HEADER' && code !== 'PLUGIN_CONFIG'))(
    'P-E1: %s (%s) is %s',
    (_id, _kind, code, sample) => {
      expect(readCniMessage(sample).code).toBe(code)
    },
  )

  test.each(rows.filter(([, , code]) => code === 'MULTILINE_HEADER' || code === 'PLUGIN_CONFIG'))(
    'P-E1: %s (%s, %s) tells nothing that is known and is not guessed at',
    (_id, _kind, _code, sample) => {
      expect(readCniMessage(sample)).toMatchObject({ kind: 'other', answers: undefined, notCni: false })
    },
  )

  test('P-E1: the exhaustion message gives plugin, range index and ranges, through the combined prefix and quoting', () => {
    const text =
      '(combined from similar events): Failed to create pod sandbox: rpc error: code = Unknown desc = failed to setup network for sandbox \\"78ac\\": plugin type=\\"multus\\" failed (add): plugin type=\\"bridge\\" failed (add): failed to allocate for range 1: no IP addresses available in range set: 10.0.0.1-10.0.0.6,fd00:10::a-fd00:10::f'
    expect(readCniMessage(text)).toMatchObject({
      kind: 'exhausted',
      plugin: 'bridge',
      rangeIndex: 1,
      ranges: ['10.0.0.1-10.0.0.6', 'fd00:10::a-fd00:10::f'],
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
    ).toMatchObject({
      kind: 'image',
      notCni: true,
    })
  })
})
