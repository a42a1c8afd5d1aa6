import type { IncomingMessage, ServerResponse } from 'node:http'
import { Args, isFields } from './args.js'
import { bodyOf, sendJson } from './http.js'
import type { EnteredValues } from './input.js'
import type { Interactions } from './interactions.js'
import { pageAssets } from './page/bundle.js'
import type { Parts } from './parts.js'
import { apiMessage, post } from './posting.js'
import type { Change, Fields, Message } from './types.js'

const html = `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Local Slack</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark">
<link rel="stylesheet" href="/page.css"><link rel="icon" href="data:,"></head>
<body><div id="root"></div><script type="module" src="/page.js"></script></body></html>`

// Text from clusters is drawn here: even markup that slipped through could load and run nothing.
const policy =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; connect-src 'self'; img-src data:"

/** The page, its stream of changes, and what its buttons do. Returns false when the path is none of its own. */
export async function servePage(
  request: IncomingMessage,
  response: ServerResponse,
  path: string,
  context: { parts: Parts; people: Interactions },
): Promise<boolean> {
  const { parts, people } = context
  if (path === '/') {
    response
      .writeHead(200, { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': policy })
      .end(html)
  } else if (path === '/page.js' || path === '/page.css') {
    const assets = await pageAssets()
    const [type, text] = path === '/page.js' ? ['text/javascript', assets.js] : ['text/css', assets.css]
    response.writeHead(200, { 'content-type': `${type}; charset=utf-8` }).end(text)
  } else if (path === '/page/stream') {
    const user = new URL(request.url ?? '/', 'http://local').searchParams.get('user') ?? ''
    stream(request, response, parts, viewer(parts, user))
  } else if (path.startsWith('/page/') && request.method === 'POST') {
    await act(request, response, path.slice('/page/'.length), people, parts)
  } else if (path.startsWith('/files/')) {
    download(response, parts, path.split('/')[2] ?? '')
  } else return false
  return true
}

/** Without a name, or with one of another workspace: the first person. */
function viewer(parts: Parts, name: string): string {
  const people = parts.workspace.users.filter(user => !user.is_bot)
  return (people.find(user => user.name === name) ?? people[0])?.id ?? ''
}

function stream(request: IncomingMessage, response: ServerResponse, parts: Parts, user: string): void {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' })
  const send = (event: Fields): void => void response.write(`data: ${JSON.stringify(event)}\n\n`)
  send(snapshot(parts, user))
  const stop = parts.workspace.onChange(change => {
    for (const event of eventsFor(parts, user, change)) send(event)
  })
  request.on('close', stop)
}

function snapshot(parts: Parts, user: string): Fields {
  const { workspace, views, socket } = parts
  const mine = (message: Message): boolean =>
    message.ephemeral_to === undefined || message.ephemeral_to === user
  return {
    kind: 'snapshot',
    team: workspace.team,
    botId: workspace.bot.id,
    users: workspace.users,
    groups: workspace.groups,
    channels: workspace.channels.filter(channel => !channel.is_im || channel.members.includes(user)),
    messages: workspace
      .messages(undefined, true)
      .filter(mine)
      .map(message => pageMessage(parts, message)),
    view: views.top(user) ?? null,
    home: views.home(user) ?? null,
    connections: socket.size,
  }
}

function eventsFor(parts: Parts, user: string, change: Change): Fields[] {
  switch (change.kind) {
    case 'message': {
      const { message } = change
      if (message.ephemeral_to !== undefined && message.ephemeral_to !== user) return []
      const root =
        message.thread_ts === undefined
          ? undefined
          : parts.workspace.message(message.channel, message.thread_ts)
      return [message, ...(root === undefined ? [] : [root])].map(each => ({
        kind: 'message',
        message: pageMessage(parts, each),
      }))
    }
    case 'removed':
      return [{ kind: 'removed', channel: change.channel, ts: change.ts }]
    case 'view':
      return change.user === user ? [{ kind: 'view', view: parts.views.top(user) ?? null }] : []
    case 'home':
      return change.user === user ? [{ kind: 'home', home: parts.views.home(user) ?? null }] : []
    case 'connections':
      return [{ kind: 'connections', connections: parts.socket.size }]
    case 'failure':
      return []
    case 'channel':
    case 'file':
      return [snapshot(parts, user)]
  }
}

const pageMessage = (parts: Parts, message: Message): Fields => ({
  ...apiMessage(parts.workspace, message),
  channel: message.channel,
  ...(message.ephemeral_to === undefined ? {} : { ephemeral_to: message.ephemeral_to }),
})

async function act(
  request: IncomingMessage,
  response: ServerResponse,
  what: string,
  people: Interactions,
  parts: Parts,
): Promise<void> {
  // Only this page sends JSON to its own origin: a form on another page cannot.
  const json = (request.headers['content-type'] ?? '').startsWith('application/json')
  const body: unknown = json ? JSON.parse((await bodyOf(request)).toString()) : undefined
  if (!isFields(body)) return sendJson(response, { error: 'send a JSON object' }, 415)
  const args = new Args(body)
  const text = (name: string): string => args.text(name) ?? ''
  const state = isFields(body.state) ? (body.state as EnteredValues) : {}
  const value = body.value === undefined ? {} : { value: body.value as string | string[] }
  const click = { user: text('user'), actionId: text('actionId'), state, ...value }
  switch (what) {
    case 'press':
      return sendJson(response, await people.press({ ...click, channel: text('channel'), ts: text('ts') }))
    case 'press-view':
      return sendJson(response, await people.pressInView({ ...click, viewId: text('viewId') }))
    case 'submit':
      return sendJson(
        response,
        await people.submitView({ user: text('user'), viewId: text('viewId'), values: state }),
      )
    case 'close':
      await people.closeView(text('user'), text('viewId'))
      return sendJson(response, {})
    case 'home':
      people.openHome(text('user'))
      return sendJson(response, {})
    case 'say':
      return sendJson(
        response,
        await say(people, parts, text('user'), text('channel'), text('text'), text('thread_ts')),
      )
    default:
      return sendJson(response, { error: `no action ${what}` }, 404)
  }
}

async function say(
  people: Interactions,
  parts: Parts,
  user: string,
  channel: string,
  text: string,
  thread: string,
) {
  if (text.startsWith('/')) return people.command({ user, channel, text })
  // Slack's message box escapes what people type; mentions it turns into ids.
  const escaped = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
  const { workspace } = parts
  const mentions = escaped.replaceAll(/@([a-z0-9._-]+)/g, (whole, name: string) => {
    const found = workspace.users.find(each => each.name === name)
    return found === undefined ? whole : `<@${found.id}>`
  })
  const thread_ts = thread === '' ? undefined : thread
  post(workspace, { user }, { channel, text: mentions, thread_ts })
  return {}
}

function download(response: ServerResponse, parts: Parts, id: string): void {
  const found = parts.workspace.files.get(id)
  if (found === undefined) return void response.writeHead(404).end('no such file')
  const name = encodeURIComponent(found.file.name)
  response
    .writeHead(200, {
      'content-type': 'text/plain; charset=utf-8',
      'content-disposition': `attachment; filename*=UTF-8''${name}`,
      'x-content-type-options': 'nosniff',
    })
    .end(found.content)
}
