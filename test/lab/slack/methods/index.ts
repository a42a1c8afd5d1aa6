import type { Method } from '../parts.js'
import { chat } from './chat.js'
import { conversations } from './conversations.js'
import { files } from './files.js'
import { people } from './people.js'
import { viewMethods } from './views.js'

const openConnection: Method = (_args, { socket, url }) => ({
  url: `${url().replace('http:', 'ws:')}/link/?ticket=${socket.ticket()}`,
})

/** Called with the app's own token; every other method wants the bot's. */
export const appMethods: Record<string, Method> = { 'apps.connections.open': openConnection }

export const botMethods: Record<string, Method> = {
  ...people,
  ...chat,
  ...conversations,
  ...viewMethods,
  ...files,
}
