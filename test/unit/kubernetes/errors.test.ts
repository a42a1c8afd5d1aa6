import { ApiException } from '@kubernetes/client-node'
import { kubeError, oneLine, problemOf, statusMessage } from '../../../src/adapters/kubernetes/errors.js'
import { Failed, Refused, Unreachable } from '../../../src/ports.js'

const status = (code: number, message: string): string =>
  JSON.stringify({ kind: 'Status', apiVersion: 'v1', status: 'Failure', message, code })
const from = (error: unknown): Error => kubeError('cordon node-07', 'https://api', problemOf(error))

describe('one clear line a failure', () => {
  test.each([
    [401, Refused, /does not accept our credentials/],
    [403, Refused, /not allowed: nope; check the role/],
    [404, Refused, /not found: nope/],
    [409, Unreachable, /changed meanwhile/],
    [422, Failed, /answered 422: nope/],
    [429, Unreachable, /answered 429/],
    [503, Unreachable, /answered 503/],
  ])('%d', (code, kind, text) => {
    const error = from(new ApiException(code, 'Unknown', status(code, 'nope'), {}))
    expect(error).toBeInstanceOf(kind)
    expect(error.message).toMatch(/^could not cordon node-07: /)
    expect(error.message).toMatch(text)
  })
  test('no answer: the reason that fetch hides in its cause', () => {
    const refused = Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:1'), { code: 'ECONNREFUSED' })
    const error = from(new TypeError('fetch failed', { cause: refused }))
    expect(error).toBeInstanceOf(Unreachable)
    expect(error.message).toContain('https://api gave no answer: ECONNREFUSED')
    expect(from(new DOMException('aborted', 'TimeoutError')).message).toContain(
      'no answer within the deadline',
    )
  })
  test('neither headers nor a body that is no Status get through', () => {
    const error = from(
      new ApiException(502, 'Unknown', '<html>token=abc</html>', { 'set-cookie': 'session=secret' }),
    )
    expect(error.message).toBe('could not cordon node-07: https://api answered 502')
  })
  test('text from the server stays one line and short', () => {
    expect(statusMessage(status(400, `a\nb\u001b[31m${'x'.repeat(500)}`))).toHaveLength(301)
    expect(oneLine('a\nb\u001b[31mc')).toBe('a b [31mc')
  })
})
