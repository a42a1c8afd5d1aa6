/** The shapes the local Slack keeps. Names of fields are Slack's own, so that they can be sent as they are. */

export interface Block {
  type: string
  block_id?: string
  [key: string]: unknown
}

export type Fields = Record<string, unknown>

export interface User {
  id: string
  name: string
  real_name: string
  is_bot: boolean
  deleted: boolean
}

export interface UserGroup {
  id: string
  handle: string
  name: string
  users: string[]
}

export interface Channel {
  id: string
  name: string
  is_im: boolean
  is_private: boolean
  is_archived: boolean
  /** User ids; the bot reads and writes only where its own id is among them. */
  members: string[]
  topic: string
}

export interface SlackFile {
  id: string
  name: string
  title: string
  size: number
  mimetype: string
  mode: 'hosted'
  user: string
  created: number
  url_private: string
  url_private_download: string
  preview?: string
  lines?: number
  shares: { public?: Record<string, { ts: string; thread_ts?: string }[]> }
}

export interface Message {
  type: 'message'
  subtype?: string
  ts: string
  channel: string
  team: string
  text: string
  user?: string
  bot_id?: string
  app_id?: string
  username?: string
  blocks?: Block[]
  attachments?: Fields[]
  thread_ts?: string
  metadata?: { event_type: string; event_payload: Fields }
  edited?: { user: string; ts: string }
  files?: SlackFile[]
  reactions?: { name: string; count: number; users: string[] }[]
  /** Only this user sees the message; it is in no history. */
  ephemeral_to?: string
}

export interface View {
  id: string
  type: 'modal' | 'home'
  title?: Fields
  submit?: Fields
  close?: Fields
  blocks: Block[]
  callback_id: string
  private_metadata: string
  external_id: string
  clear_on_close: boolean
  notify_on_close: boolean
  hash: string
  state: { values: StateValues }
  root_view_id: string
  previous_view_id: string | null
  team_id: string
  app_id: string
  bot_id: string
}

/** block_id → action_id → what the person entered, as Slack sends it. */
export type StateValues = Record<string, Record<string, Fields>>

/** What a person sees when the app did not acknowledge in time, or nobody was connected. */
export interface Failure {
  user: string
  channel: string
  error: 'operation_timeout' | 'dispatch_failed'
  what: string
  ts?: string
  actionId?: string
}

export type Change =
  | { kind: 'message'; message: Message; how: 'posted' }
  /** `edited`: the app or a person changed it. `touched`: a reaction or a file; no `message_changed` is sent. */
  | { kind: 'message'; message: Message; how: 'edited' | 'touched'; previous: Message }
  | { kind: 'removed'; channel: string; ts: string; message: Message; user?: string }
  | { kind: 'view'; user: string }
  | { kind: 'home'; user: string }
  | { kind: 'channel'; channel: string }
  | { kind: 'failure'; failure: Failure }
  | { kind: 'connections' }
  | { kind: 'file'; file: string }

export interface LocalSlackOptions {
  /** 0 or absent: any free port on the loopback address. */
  port?: number
  team?: { id?: string; name?: string; domain?: string }
  channels?: { name: string; id?: string; botIsMember?: boolean; isPrivate?: boolean; topic?: string }[]
  users?: { name: string; id?: string; realName?: string; deleted?: boolean; isBot?: boolean }[]
  /** Members are user names. */
  userGroups?: { handle: string; name?: string; users: string[] }[]
  bot?: { name?: string; realName?: string }
  commands?: string[]
  /** Milliseconds since 1970. Message times follow it; deadlines (3 s) are always real time. */
  clock?: { now(): number }
  timings?: Partial<Timings>
}

/** All milliseconds of real time. Slack's own: 3,000 for both; retries at once, after a minute, after five. */
export interface Timings {
  acknowledge: number
  trigger: number
  retries: number[]
  ping: number
}

/** Slack's answer to a call that it refuses: HTTP 200 with `ok: false`. */
export class SlackError extends Error {
  readonly code: string
  readonly more: Fields

  constructor(code: string, more: Fields = {}) {
    super(code)
    this.code = code
    this.more = more
  }
}
