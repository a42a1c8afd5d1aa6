import { fromSlack } from '../../../src/core/report/from-slack.js'

describe('P-R3: a message pasted into Slack is read as it was before Slack wrote it', () => {
  test.each([
    ['a message as it was', 'no IP addresses available in range set: 10.244.7.1-10.244.7.254'],
    ['a range with a dash and brackets', 'failed to find plugin "portmap" in path [/opt/cni/bin]'],
    ['a lone sign', 'a < b > c'],
    ["klog's form of several lines", 'RunPodSandbox failed" err=<\n\trpc error: code = Unknown\n >'],
  ])('%s stays', (_, text) => {
    expect(fromSlack(text)).toBe(text)
  })

  test.each([
    ['signs', 'err=&lt; a &amp;&amp; b &gt;', 'err=< a && b >'],
    ['signs that were escaped when they were pasted', '&amp;lt;none&amp;gt;', '&lt;none&gt;'],
    [
      'curly quotes',
      'plugin type=“bridge” failed: open ‘/run/x’: it’s gone',
      `plugin type="bridge" failed: open '/run/x': it's gone`,
    ],
    [
      'a link around an address',
      'Get "<https://10.96.0.1:443/api/v1/nodes>": dial tcp',
      'Get "https://10.96.0.1:443/api/v1/nodes": dial tcp',
    ],
    [
      'a link around a host',
      'failed to pull image "<http://registry.example|registry.example>/pause:3.6"',
      'failed to pull image "registry.example/pause:3.6"',
    ],
    ['an address of mail', 'user <mailto:node@example.com|node@example.com>', 'user node@example.com'],
    ['a person and a channel', '<@U012ABC|ops> in <#C1|general>', '@ops in #general'],
    [
      'a code block',
      '```Failed to create pod sandbox\nsecond line```',
      'Failed to create pod sandbox\nsecond line',
    ],
    ['a code block with a name', '```text\nFailed\n```', 'Failed'],
    ['code', '`cni plugin not initialized`', 'cni plugin not initialized'],
    ['a quotation', '&gt; first line\n&gt; second line', 'first line\nsecond line'],
    ['hard and invisible spaces', 'no space\u00a0left\u200b on device', 'no space left on device'],
  ])('%s', (_, text, plain) => {
    expect(fromSlack(text)).toBe(plain)
  })

  test('a sign that opens no link is not taken for one', () => {
    expect(fromSlack('<none> <https://x|')).toBe('<none> <https://x|')
  })

  test('a hundred thousand opening signs are read as quickly as any text', () => {
    const hostile = '<https://'.repeat(12_000)
    expect(fromSlack(hostile)).toBe(hostile)
  })
})
