import { withoutSecrets } from '../../src/core/secrets.js'

test.each([
  ['sent xoxb-123-ABC-hidden to Slack', 'sent xox*-[redacted] to Slack'],
  ['xapp-1-A0-9-hidden', 'xapp-[redacted]'],
  ['Authorization: Bearer abc.hidden-1', 'Authorization: Bearer [redacted]'],
  ['authorization: basic aGlkZGVu', 'authorization: basic [redacted]'],
  ['of eyJhbGciOiJSUzI1NiJ9.hidden.hidden_-1', 'of [redacted] token'],
  [
    '-----BEGIN EC PRIVATE KEY-----\nhidden\n-----END EC PRIVATE KEY-----\nand more',
    '[redacted] key\nand more',
  ],
  ['-----BEGIN RSA PRIVATE KEY-----\nhidden, cut o', '[redacted] key'],
  ['redis://bot:hidden@redis:6379', 'redis://bot:[redacted]@redis:6379'],
  ['https://bot:hidden@proxy.example/x', 'https://bot:[redacted]@proxy.example/x'],
  ['--token=hidden --node=node-07', '--token=[redacted] --node=node-07'],
  ['password: hidden', 'password: [redacted]'],
  ['DB_PASSWORD=hidden x', 'DB_PASSWORD=[redacted] x'],
  ['password="hidden words" x', 'password="[redacted]" x'],
  ['aws_secret_access_key=hidden', 'aws_secret_access_key=[redacted]'],
  ['access_token=hidden&id_token=hidden', 'access_token=[redacted]&id_token=[redacted]'],
  ['?X-Amz-Signature=hidden&x=1', '?X-Amz-Signature=[redacted]&x=1'],
  ['--password hidden --token hidden', '--password [redacted] --token [redacted]'],
  ['X-Auth-Token: hidden', 'X-Auth-Token: [redacted]'],
  ['x-api-key: hidden', 'x-api-key: [redacted]'],
  ['Authorization: token hidden', 'Authorization: token [redacted]'],
  ["{'password': 'hidden words'}", "{'password': '[redacted]'}"],
  ['"{\\"token\\":\\"hidden\\",\\"a\\":1}"', '"{\\"token\\":\\"[redacted]\\",\\"a\\":1}"'],
  [`of ghp_${'hidden'.repeat(4)}`, 'of [redacted] token'],
  ['id AKIAIOSFODNN7EXAMPLE of', 'id [redacted] key of'],
  ['redis://bot:hid@den@redis:6379', 'redis://bot:[redacted]@redis:6379'],
  ['{"a":{"clientSecret":"hid\\"den"},"b":1}', '{"a":{"clientSecret":"[redacted]"},"b":1}'],
])('%j is shown as %j', (text, shown) => {
  expect(withoutSecrets(text)).toBe(shown)
  expect(withoutSecrets(shown)).toBe(shown)
})

test.each([
  'no IP addresses available in range set: 10.244.7.1-10.244.7.254',
  'PATCH /api/v1/nodes/node-07 {"metadata":{"annotations":{"cnibot.io/cordoned-by":"prod-eu1/node-07.1"}}}',
  'unix:///run/containerd/containerd.sock: connection refused',
  'secret "payments-token" not found',
  'failed to fetch anonymous token: unexpected status from GET request to https://registry.example/token: 401',
  'sudo: a password is required',
  'MountVolume.SetUp failed for volume "api-token-x2k8q" : secret "api-token" not found',
  '[2001:db8::1]:22 https://10.96.0.1:443/api/v1/nodes',
])('%j stays as it is', text => {
  expect(withoutSecrets(text)).toBe(text)
})

test.each(['key="hidden"', 'x token="hidden" y', 'PRIVATE KEY-----\nhid "den', 'redis://a:hidden\n"@b'])(
  'a JSON line with %j inside stays JSON',
  text => {
    const shown = withoutSecrets(JSON.stringify({ msg: `-----BEGIN RSA ${text}`, next: 'api_key=hidden' }))
    expect(Object.keys(JSON.parse(shown))).toEqual(['msg', 'next'])
  },
)

test('long hostile text takes no longer than its length', () => {
  const parts = ['token', '"token', '://a:', '-----BEGIN ', 'Bearer ', '"', '-eyJaaaaaaaa', 'eyJaaaaaaaa.']
  const more = [
    'password="',
    "'token': '",
    '--token ',
    'x-token',
    'Authorization: a ',
    '\\\\"token\\\\":',
    '://a:@',
  ]
  for (const part of [...parts, ...more])
    expect(withoutSecrets(part.repeat(200_000)).length).toBeGreaterThan(0)
})
