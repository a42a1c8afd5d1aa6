import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { isFields } from './args.js'
import { sendEvents } from './events.js'
import { Faults } from './faults.js'
import { bodyOf, type Call, sendJson, serveApi, type Tokens, uploadOf } from './http.js'
import { Interactions } from './interactions.js'
import { LocalSlack } from './local-slack.js'
import { servePage } from './page-server.js'
import type { Parts } from './parts.js'
import { ResponseUrls } from './response-url.js'
import { SocketMode } from './socket.js'
import { Workspace } from './state.js'
import { Triggers } from './triggers.js'
import { type LocalSlackOptions, SlackError, type Timings } from './types.js'
import { Uploads } from './uploads.js'
import { Views } from './views.js'

export type { Press, Submission, SubmitOutcome } from './interactions.js'
export type { LocalSlack } from './local-slack.js'
export type { Outcome } from './socket.js'
export type { Block, Failure, Fields, LocalSlackOptions, Message, SlackFile, View } from './types.js'

const slackTimings: Timings = {
  acknowledge: 3_000,
  trigger: 3_000,
  retries: [0, 60_000, 300_000],
  ping: 10_000,
}
const tokens: Tokens = { bot: 'xoxb-local-bot', app: 'xapp-local-app' }

/**
 * A Slack workspace on the loopback address, in memory: Web API, Socket Mode and a page. Point Bolt's
 * `clientOptions.slackApiUrl` at `apiUrl`.
 */
export async function startSlack(options: LocalSlackOptions = {}): Promise<LocalSlack> {
  const http = createServer()
  const workspace = new Workspace(options)
  const faults = new Faults()
  const timings = { ...slackTimings, ...options.timings }
  const parts: Parts = {
    workspace,
    faults,
    timings,
    triggers: new Triggers(workspace, faults, timings.trigger),
    views: new Views(workspace),
    uploads: new Uploads(workspace, faults),
    responses: new ResponseUrls(workspace),
    socket: new SocketMode(http, workspace, faults, timings),
    url: () => `http://127.0.0.1:${(http.address() as AddressInfo).port}`,
  }
  const people = new Interactions(parts)
  const calls: Call[] = []
  http.on('request', (request: IncomingMessage, response: ServerResponse) => {
    serve(request, response, { parts, people, calls }).catch((error: unknown) => {
      const text = error instanceof Error ? error.message : String(error)
      if (!response.headersSent) sendJson(response, { ok: false, error: 'fatal_error', text }, 500)
      else response.end()
    })
  })
  await listening(http, options.port ?? 0)
  const stopEvents = sendEvents(workspace, parts.socket)
  return new LocalSlack(parts, people, tokens, calls, async () => {
    stopEvents()
    await parts.socket.close()
    parts.uploads.close()
    http.closeAllConnections()
    await new Promise<void>(resolve => http.close(() => resolve()))
  })
}

const listening = (http: Server, port: number): Promise<void> =>
  new Promise((resolve, reject) => {
    http.once('error', reject)
    http.listen(port, '127.0.0.1', () => resolve())
  })

async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  context: { parts: Parts; people: Interactions; calls: Call[] },
): Promise<void> {
  const { parts, people, calls } = context
  const path = new URL(request.url ?? '/', 'http://local').pathname
  const [, first = '', second = ''] = path.split('/')
  if (first === 'api') return serveApi(request, response, second, { parts, tokens, calls })
  if (first === 'upload') {
    const taken = parts.uploads.receive(second, await uploadOf(request))
    response.writeHead(taken ? 200 : 400).end(taken ? 'OK' : 'length of the body is not the length announced')
  } else if (first === 'response') respond(parts, response, second, await bodyOf(request))
  else if (!(await servePage(request, response, path, { parts, people })))
    response.writeHead(404).end('not here')
}

function respond(parts: Parts, response: ServerResponse, key: string, body: Buffer): void {
  try {
    const message: unknown = JSON.parse(body.toString())
    parts.responses.use(key, isFields(message) ? message : {})
    response.writeHead(200).end('ok')
  } catch (error) {
    if (!(error instanceof SlackError)) throw error
    const gone = error.code.endsWith('_url')
    sendJson(response, { ok: false, error: error.code, ...error.more }, gone ? 404 : 400)
  }
}
