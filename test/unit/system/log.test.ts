import { createLog } from '../../../src/adapters/system/log.js'

const logged = (write: (log: ReturnType<typeof createLog>) => void): string[] => {
  const lines: string[] = []
  const settings = { level: 'info', process: 'bot', cluster: 'prod-eu1' } as const
  write(createLog({ ...settings, write: line => lines.push(line) }))
  return lines
}

describe('the log', () => {
  it('writes JSON lines with the fields operators search by', () => {
    const [line = ''] = logged(log => log.warn({ node: 'node-07', incident: 'inc-1' }, 'watch is stale'))
    expect(JSON.parse(line)).toMatchObject({
      level: 'warn',
      process: 'bot',
      cluster: 'prod-eu1',
      node: 'node-07',
      incident: 'inc-1',
      msg: 'watch is stale',
    })
    expect(line.endsWith('\n')).toBe(true)
  })

  it.each([
    ['a Slack bot token', { text: 'sent xoxb-123-ABC-secret to' }],
    ['an app token', { why: 'xapp-1-A0-9-secret' }],
    ['a bearer header inside an error', { err: new Error('GET failed: Authorization: Bearer abc.secret-1') }],
    [
      'a value under a telling key, at any depth',
      { request: { headers: { authorization: 'Basic secret' } } },
    ],
    ['a key with quotes in its value', { slackToken: 'a"secret' }],
    [
      'a private key',
      { dump: '-----BEGIN OPENSSH PRIVATE KEY-----\nsecret\n-----END OPENSSH PRIVATE KEY-----' },
    ],
    ['a private key that was cut off', { dump: '-----BEGIN RSA PRIVATE KEY-----\nsecret' }],
    ['the password of Redis', { url: 'redis://bot:secret@redis:6379' }],
  ])('never shows %s', (_what, fields) => {
    const [line = ''] = logged(log => log.error(fields, 'failed'))
    expect(line).not.toContain('secret')
    expect(line).toContain('redacted')
    expect(JSON.parse(line)).toMatchObject({ msg: expect.any(String) })
  })
})
