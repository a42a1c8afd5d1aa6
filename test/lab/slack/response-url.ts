import { Args } from './args.js'
import { acceptBlocks, botAuthor, cut, post } from './posting.js'
import type { Workspace } from './state.js'
import { type Fields, type Message, SlackError } from './types.js'

const MOST_USES = 5
const LIFETIME = 30 * 60_000

interface Issued {
  user: string
  channel: string
  message?: Message
  uses: number
  until: number
}

/** Response URLs: five uses in thirty minutes of the workspace's clock. */
export class ResponseUrls {
  private readonly issued = new Map<string, Issued>()
  private readonly workspace: Workspace

  constructor(workspace: Workspace) {
    this.workspace = workspace
  }

  issue(user: string, channel: string, message?: Message): string {
    const key = this.workspace.ids.next('r')
    const from = message === undefined ? {} : { message }
    this.issued.set(key, { user, channel, uses: 0, until: this.workspace.now() + LIFETIME, ...from })
    return `/response/${key}`
  }

  /** Throws `SlackError` with `used_url`, `expired_url` or what is wrong with the message. */
  use(key: string, body: Fields): void {
    const issued = this.issued.get(key)
    if (issued === undefined || this.workspace.now() > issued.until) throw new SlackError('expired_url')
    if (issued.uses >= MOST_USES) throw new SlackError('used_url')
    issued.uses += 1
    this.answer(issued, body)
  }

  /** The message that an acknowledgement of a command may carry in its payload. */
  answer(to: { user: string; channel: string; message?: Message }, body: Fields): void {
    const args = new Args(body)
    const original = to.message
    if (args.flag('delete_original') === true && original !== undefined) {
      this.workspace.remove(original)
      return
    }
    const blocks = acceptBlocks(this.workspace, args.json('blocks', 'invalid_blocks_format'))
    const text = args.text('text') ?? ''
    if (text === '' && (blocks ?? []).length === 0) throw new SlackError('no_text')
    if (args.flag('replace_original') === true && original !== undefined) {
      this.workspace.change(original, { text, blocks: blocks ?? [] }, 'edited')
      return
    }
    const only = args.text('response_type') === 'in_channel' ? undefined : to.user
    const draft = { channel: to.channel, text: cut(text)[0] ?? '', blocks, thread_ts: args.text('thread_ts') }
    post(this.workspace, botAuthor(this.workspace), draft, only)
  }
}
