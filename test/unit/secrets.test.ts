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
  for (const part of ['token', '"token', '://a:', '-----BEGIN ', 'Bearer ', '"'])
    expect(withoutSecrets(part.repeat(200_000)).length).toBeGreaterThan(0)
})
