import type { Faults } from './faults.js'
import { botAuthor, post } from './posting.js'
import type { Workspace } from './state.js'
import { type Message, type SlackFile, SlackError } from './types.js'

const PREVIEW = 2_000
const types: Record<string, string> = {
  txt: 'text/plain',
  log: 'text/plain',
  json: 'application/json',
  md: 'text/plain',
}

interface Slot {
  id: string
  name: string
  length: number
  content?: Buffer
}

/** Files in Slack's three moves: ask for a place, send the bytes, share. */
export class Uploads {
  private readonly slots = new Map<string, Slot>()
  private readonly workspace: Workspace
  private readonly faults: Faults
  private readonly timers = new Set<NodeJS.Timeout>()

  constructor(workspace: Workspace, faults: Faults) {
    this.workspace = workspace
    this.faults = faults
  }

  reserve(name: string, length: number): { id: string; path: string } {
    const id = this.workspace.ids.next('F')
    this.slots.set(id, { id, name, length })
    return { id, path: `/upload/${id}` }
  }

  /** False when the place does not exist or the number of bytes is not the one announced. */
  receive(id: string, content: Buffer): boolean {
    const slot = this.slots.get(id)
    if (slot === undefined || slot.length !== content.length) return false
    slot.content = content
    return true
  }

  /**
   * Answers before the message exists, as Slack does: the returned files have no shares yet, and what is posted
   * meanwhile comes first.
   */
  complete(wanted: { id: string; title?: string }[], share: Share | undefined, url: string): SlackFile[] {
    const files = wanted.map(({ id, title }) => {
      const slot = this.slots.get(id)
      if (slot?.content === undefined) throw new SlackError('file_not_found')
      const file = this.fileOf(slot, slot.content, title ?? slot.name, url)
      this.workspace.files.set(id, { file, content: slot.content })
      this.slots.delete(id)
      return file
    })
    if (share !== undefined) this.later(() => this.share(files, share))
    return files.map(file => ({ ...file }))
  }

  close(): void {
    for (const timer of this.timers) clearTimeout(timer)
  }

  private share(files: SlackFile[], { channel, thread_ts, text }: Share): void {
    const draft = { channel, thread_ts, text, files }
    const author = { ...botAuthor(this.workspace), subtype: 'file_share' }
    const message: Message = post(this.workspace, author, draft)
    for (const file of files) {
      const thread = message.thread_ts === undefined ? {} : { thread_ts: message.thread_ts }
      file.shares = { public: { [channel]: [{ ts: message.ts, ...thread }] } }
      this.workspace.announce({ kind: 'file', file: file.id })
    }
  }

  private fileOf(slot: Slot, content: Buffer, title: string, url: string): SlackFile {
    const mimetype = types[slot.name.split('.').at(-1) ?? ''] ?? 'application/octet-stream'
    const text =
      mimetype.startsWith('text/') || mimetype === 'application/json' ? content.toString() : undefined
    const address = `${url}/files/${slot.id}/${encodeURIComponent(slot.name)}`
    return {
      id: slot.id,
      name: slot.name,
      title,
      size: content.length,
      mimetype,
      mode: 'hosted',
      user: this.workspace.bot.id,
      created: Math.floor(this.workspace.now() / 1000),
      url_private: address,
      url_private_download: address,
      ...(text === undefined ? {} : { preview: text.slice(0, PREVIEW), lines: text.split('\n').length }),
      shares: {},
    }
  }

  private later(act: () => void): void {
    const timer = setTimeout(() => {
      this.timers.delete(timer)
      act()
    }, this.faults.shareDelay)
    this.timers.add(timer)
  }
}

interface Share {
  channel: string
  thread_ts?: string | undefined
  text: string
}
