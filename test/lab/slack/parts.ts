import type { Args } from './args.js'
import type { Faults } from './faults.js'
import type { ResponseUrls } from './response-url.js'
import type { SocketMode } from './socket.js'
import type { Workspace } from './state.js'
import type { Triggers } from './triggers.js'
import type { Fields, Timings } from './types.js'
import type { Uploads } from './uploads.js'
import type { Views } from './views.js'

/** The pieces of the local Slack, as its methods see each other. */
export interface Parts {
  workspace: Workspace
  faults: Faults
  timings: Timings
  triggers: Triggers
  views: Views
  uploads: Uploads
  responses: ResponseUrls
  socket: SocketMode
  /** Without a slash at the end; known once the server listens. */
  url: () => string
}

/** One Web API method: its answer without `ok`, or a thrown `SlackError`. */
export type Method = (args: Args, parts: Parts) => Fields | Promise<Fields>
