import { Lost, type Message, type Thread } from '../../src/ports.js'

export interface FakePost {
  channel: string
  ts: string
  threadTs: string | undefined
  op: string
  message: Message
  edits: number
}

export interface FakeFile {
  channel: string
  threadTs: string
  name: string
  title: string
  text: string
  op: string
}

/** A workspace in memory that keeps the port's promises. `fail` makes the next calls throw; `closed` channels are archived. */
export class FakeThread implements Thread {
  readonly posts: FakePost[] = []
  readonly files: FakeFile[] = []
  readonly closed = new Set<string>()
  private failures: Error[] = []
  private last = 1_700_000_000

  fail(...errors: Error[]): void {
    this.failures.push(...errors)
  }

  remove(ts: string): void {
    const at = this.posts.findIndex(post => post.ts === ts)
    if (at >= 0) this.posts.splice(at, 1)
  }

  async post(
    channel: string,
    message: Message,
    { threadTs, op }: { threadTs?: string; op: string },
  ): Promise<{ channel: string; ts: string }> {
    this.mayFail(channel)
    const there = this.posts.find(
      post => post.channel === channel && post.threadTs === threadTs && post.op === op,
    )
    if (there) return { channel, ts: there.ts }
    this.mustExist(channel, threadTs)
    this.last += 1
    const ts = `${this.last}.000100`
    this.posts.push({ channel, ts, threadTs, op, message, edits: 0 })
    return { channel, ts }
  }

  async update(channel: string, ts: string, message: Message): Promise<void> {
    this.mayFail(channel)
    const post = this.posts.find(each => each.channel === channel && each.ts === ts)
    if (!post)
      throw new Lost(
        'message',
        `Slack refused an edit of ${channel}/${ts} (message_not_found): the message was deleted`,
      )
    post.message = message
    post.edits += 1
  }

  async attach(
    channel: string,
    threadTs: string,
    file: { name: string; text: string; title: string; op: string },
  ): Promise<void> {
    this.mayFail(channel)
    if (this.files.some(each => each.threadTs === threadTs && each.op === file.op)) return
    this.mustExist(channel, threadTs)
    this.files.push({ channel, threadTs, ...file })
  }

  async permalink(channel: string, ts: string): Promise<string | undefined> {
    this.mayFail()
    return this.posts.some(post => post.channel === channel && post.ts === ts)
      ? `https://slack.example/archives/${channel}/p${ts.replace('.', '')}`
      : undefined
  }

  private mayFail(channel?: string): void {
    const error = this.failures.shift()
    if (error) throw error
    if (channel !== undefined && this.closed.has(channel))
      throw new Lost('channel', `Slack refused a post to ${channel} (is_archived): the channel is archived`)
  }

  private mustExist(channel: string, threadTs: string | undefined): void {
    if (threadTs === undefined) return
    if (!this.posts.some(post => post.channel === channel && post.ts === threadTs))
      throw new Lost('message', `the thread ${channel}/${threadTs} is gone: its first message was deleted`)
  }
}
