import { createHash } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { KnownBlock, WebClient } from '@slack/web-api'
import { Lost, type Message, type Thread, Unreachable } from '../../ports.js'
import { Gates, openClient, type SlackAccess } from './client.js'
import { isAmbiguous, isCode } from './failure.js'

interface Posted {
  channel: string
  ts: string
}

interface Found {
  ts?: string
  metadata?: { event_type?: string; event_payload?: object }
  files?: { name?: string }[]
}

type Seek = (message: Found) => boolean

const eventType = 'cnibot'

const carries =
  (op: string): Seek =>
  ({ metadata }) =>
    metadata?.event_type === eventType &&
    new Map(Object.entries(metadata.event_payload ?? {})).get('op') === op

/** `evidence.txt` → `evidence-3fa9c17b.txt`: a file has no metadata, so its name tells which upload it is. */
const namedFor = (name: string, op: string): string => {
  const mark = createHash('sha256').update(op).digest('hex').slice(0, 8)
  const dot = name.lastIndexOf('.')
  return dot > 0 ? `${name.slice(0, dot)}-${mark}${name.slice(dot)}` : `${name}-${mark}`
}

// Our own builders made them; Slack is the judge of what they are.
const blocksOf = (message: Message): KnownBlock[] =>
  message.blocks.filter((block): block is KnownBlock => isBlock(block))
const isBlock = (block: unknown): boolean => typeof block === 'object' && block !== null && 'type' in block

const body = (message: Message) => ({ text: message.text, blocks: blocksOf(message) })

/** Messages of a thread, or a channel's newest of the last day; at most this many are searched. */
const pages = 5
const pageSize = 200
const day = 86_400

class SlackThread implements Thread {
  private readonly client: WebClient
  private readonly gates: Gates
  private readonly access: SlackAccess

  constructor(access: SlackAccess) {
    this.access = access
    this.client = openClient(access)
    this.gates = new Gates(access.patienceMs ?? 20_000)
  }

  async post(channel: string, message: Message, options: { threadTs?: string; op: string }): Promise<Posted> {
    const { threadTs, op } = options
    const what = threadTs ? `a reply in ${channel}` : `a post to ${channel}`
    const send = async (): Promise<Posted> => {
      const answer = await this.client.chat.postMessage({
        channel,
        ...body(message),
        ...(threadTs ? { thread_ts: threadTs } : {}),
        metadata: { event_type: eventType, event_payload: { op } },
        unfurl_links: false,
        unfurl_media: false,
      })
      const posted = { channel: answer.channel ?? channel, ts: answer.ts ?? '' }
      if (threadTs) await this.mustBeIn(threadTs, posted, answer.message?.thread_ts)
      return posted
    }
    const ts = await this.once(channel, threadTs, what, carries(op), send)
    return typeof ts === 'string' ? { channel, ts } : ts
  }

  update(channel: string, ts: string, message: Message): Promise<void> {
    return this.gates.through(channel, `an edit of ${channel}/${ts}`, true, async () => {
      await this.client.chat.update({ channel, ts, ...body(message) })
    })
  }

  async attach(
    channel: string,
    threadTs: string,
    file: { name: string; text: string; title: string; op: string },
  ): Promise<void> {
    const filename = namedFor(file.name, file.op)
    const seek: Seek = ({ files }) => files?.some(each => each.name === filename) ?? false
    await this.once(channel, threadTs, `the file ${file.name} in ${channel}`, seek, async () => {
      await this.client.filesUploadV2({
        channel_id: channel,
        thread_ts: threadTs,
        filename,
        title: file.title,
        // Slack takes no empty file.
        content: file.text || '\n',
      })
      await this.untilShown(channel, threadTs, seek)
      return { channel, ts: '' }
    })
  }

  async permalink(channel: string, ts: string): Promise<string | undefined> {
    return this.gates.through(channel, `the link to ${channel}/${ts}`, true, async () => {
      try {
        return (await this.client.chat.getPermalink({ channel, message_ts: ts })).permalink
      } catch (error) {
        if (isCode(error, 'message_not_found', 'channel_not_found')) return undefined
        throw error
      }
    })
  }

  /**
   * Posting twice is two messages, so it looks before the first attempt (an earlier process may have posted and died)
   * and again after every answer that never came.
   */
  private async once(
    channel: string,
    threadTs: string | undefined,
    what: string,
    seek: Seek,
    send: () => Promise<Posted>,
  ): Promise<Posted | string> {
    const deadline = this.gates.deadline()
    for (let attempt = 1; ; attempt++) {
      const there = await this.find(channel, threadTs, what, seek, deadline)
      if (there !== undefined) return there
      try {
        return await this.gates.through(channel, what, false, send, deadline)
      } catch (error) {
        const again = error instanceof Unreachable && attempt < 3
        if (!again || performance.now() + 500 * attempt > deadline) throw error
        // A call that timed out here may still be under way there.
        await pause(500 * attempt)
      }
    }
  }

  private async find(
    channel: string,
    threadTs: string | undefined,
    what: string,
    seek: Seek,
    deadline = this.gates.deadline(),
  ): Promise<string | undefined> {
    let cursor: string | undefined
    for (let page = 0; page < pages; page++) {
      const search = `the search before ${what}`
      const read = () => this.read(channel, threadTs, cursor)
      const answer = await this.gates.through(channel, search, true, read, deadline)
      const found = answer?.messages.find(seek)
      if (found?.ts) return found.ts
      cursor = answer?.cursor
      if (!cursor) return undefined
    }
    return undefined
  }

  /** Without the scope to read, nothing can be found: said in the log, and posted without looking. */
  private async read(
    channel: string,
    threadTs: string | undefined,
    cursor: string | undefined,
  ): Promise<{ messages: Found[]; cursor: string | undefined } | undefined> {
    const common = { channel, limit: pageSize, include_all_metadata: true, ...(cursor ? { cursor } : {}) }
    try {
      const answer = threadTs
        ? await this.client.conversations.replies({ ...common, ts: threadTs })
        : await this.client.conversations.history({
            ...common,
            oldest: String(Math.floor(Date.now() / 1_000) - day),
          })
      return { messages: answer.messages ?? [], cursor: answer.response_metadata?.next_cursor || undefined }
    } catch (error) {
      if (!isCode(error, 'missing_scope')) throw error
      this.access.log.warn(
        { channel },
        'the app may not read this channel: a repeated post cannot be recognised',
      )
      return undefined
    }
  }

  /** A reply whose thread is gone is not refused by Slack: it lands in the channel, where nobody expects it. */
  private async mustBeIn(threadTs: string, posted: Posted, landed: string | undefined): Promise<void> {
    if (landed === threadTs) return
    await this.client.chat.delete(posted).catch((error: unknown) => {
      if (!isAmbiguous(error) && !isCode(error, 'message_not_found')) throw error
    })
    throw new Lost(
      'message',
      `the thread ${posted.channel}/${threadTs} is gone: its first message was deleted`,
    )
  }

  /** Slack answers an upload before its message exists; what is posted meanwhile would stand above it. */
  private async untilShown(channel: string, threadTs: string, seek: Seek): Promise<void> {
    for (let look = 1; look <= 5; look++) {
      if ((await this.find(channel, threadTs, 'the uploaded file', seek)) !== undefined) return
      await pause(150 * look)
    }
  }
}

/** The port for one workspace. Everything it throws is Unreachable, Failed or Lost. */
export const openThread = (access: SlackAccess): Thread => new SlackThread(access)
