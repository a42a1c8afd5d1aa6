import type { IncomingMessage, ServerResponse } from 'node:http'
import { Args, isFields } from './args.js'
import { appMethods, botMethods } from './methods/index.js'
import type { Method, Parts } from './parts.js'
import { type Fields, SlackError } from './types.js'

const LARGEST_BODY = 64 * 1024 * 1024

export interface Tokens {
  bot: string
  app: string
}

/** One call of the Web API, as it was answered; tokens are left out. */
export interface Call {
  method: string
  args: Fields
  answer: Fields
}

export async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request) {
    size += (chunk as Buffer).length
    if (size > LARGEST_BODY) throw new Error('body too large')
    chunks.push(chunk as Buffer)
  }
  return Buffer.concat(chunks)
}

export function sendJson(response: ServerResponse, body: unknown, status = 200, headers: Fields = {}): void {
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8', ...(headers as object) })
  response.end(JSON.stringify(body))
}

/** `/api/<method>`: forms and JSON, the token in the header or among the arguments. */
export async function serveApi(
  request: IncomingMessage,
  response: ServerResponse,
  method: string,
  context: { parts: Parts; tokens: Tokens; calls: Call[] },
): Promise<void> {
  const { parts, tokens, calls } = context
  const { token, ...args } = await argumentsOf(request)
  const delay = parts.faults.takeDelay(method)
  if (delay > 0) await new Promise(resolve => setTimeout(resolve, delay).unref())
  const channel = args.channel ?? args.channel_id
  const seconds = parts.faults.takeRateLimit(typeof channel === 'string' ? channel : undefined)
  if (seconds !== undefined) {
    calls.push({ method, args, answer: { ok: false, error: 'ratelimited' } })
    sendJson(response, { ok: false, error: 'ratelimited' }, 429, { 'retry-after': String(seconds) })
    return
  }
  const before = parts.faults.takeError(method, false)
  if (before !== undefined && 'status' in before) {
    response.writeHead(before.status).end('upstream error')
    return
  }
  const refusal = before === undefined ? undefined : { ok: false, error: before.code }
  const given = bearer(request) ?? (typeof token === 'string' ? token : undefined)
  const answer = refusal ?? (await call(method, given, tokens, args, parts))
  calls.push({ method, args, answer })
  const after = parts.faults.takeError(method, true)
  if (after !== undefined) response.writeHead(500).end('upstream error')
  else sendJson(response, answer)
}

async function call(
  name: string,
  token: string | undefined,
  tokens: Tokens,
  args: Fields,
  parts: Parts,
): Promise<Fields> {
  try {
    const method = allowed(name, token, tokens)
    return { ok: true, ...(await method(new Args(args), parts)) }
  } catch (error) {
    if (error instanceof SlackError) return { ok: false, error: error.code, ...error.more }
    throw error
  }
}

function allowed(name: string, token: string | undefined, tokens: Tokens): Method {
  const method = botMethods[name] ?? appMethods[name]
  if (method === undefined) throw new SlackError('unknown_method', { req_method: name })
  if (token === undefined) throw new SlackError('not_authed')
  if (token !== tokens.bot && token !== tokens.app) throw new SlackError('invalid_auth')
  const wanted = name in appMethods ? tokens.app : tokens.bot
  if (token !== wanted) throw new SlackError('not_allowed_token_type')
  return method
}

const bearer = (request: IncomingMessage): string | undefined =>
  /^Bearer (\S+)$/.exec(request.headers.authorization ?? '')?.[1]

async function argumentsOf(request: IncomingMessage): Promise<Fields> {
  const query = Object.fromEntries(new URL(request.url ?? '/', 'http://local').searchParams)
  const body = (await bodyOf(request)).toString()
  if (!(request.headers['content-type'] ?? '').startsWith('application/json')) {
    return { ...query, ...Object.fromEntries(new URLSearchParams(body)) }
  }
  const json: unknown = body === '' ? {} : JSON.parse(body)
  return { ...query, ...(isFields(json) ? json : {}) }
}

/** The bytes of an upload: a multipart form with one file, as the clients send it, or the bare body. */
export async function uploadOf(request: IncomingMessage): Promise<Buffer> {
  const body = await bodyOf(request)
  const type = request.headers['content-type'] ?? ''
  if (!type.startsWith('multipart/form-data')) return body
  const form = await new Response(new Uint8Array(body), { headers: { 'content-type': type } }).formData()
  for (const [, value] of form) {
    if (typeof value !== 'string') return Buffer.from(await value.arrayBuffer())
  }
  for (const [, value] of form) if (typeof value === 'string') return Buffer.from(value)
  return Buffer.alloc(0)
}
