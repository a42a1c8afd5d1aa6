import pLimit, { type LimitFunction } from 'p-limit'
import type ssh2 from 'ssh2'
import { Unreachable } from '../../ports.js'

interface Held {
  client: ssh2.Client
  /** sshd allows 10 sessions on one connection; fewer leave room for people. */
  channels: LimitFunction
  users: number
  /** Out of use: closed, or forgotten. */
  gone: boolean
  closed: boolean
}

const mostChannels = 4

/** Connections by key, opened when needed, kept a while, never more than `most` at a time. */
export class Connections {
  private readonly held = new Map<string, Promise<Held>>()
  /** Connections nobody uses, longest unused first, each with the timer that ends it. */
  private readonly idle = new Map<string, NodeJS.Timeout>()
  private readonly waiting: (() => void)[] = []
  private slots: number
  private closed = false

  constructor(
    most: number,
    private readonly idleMs: number,
  ) {
    this.slots = most
  }

  /** Lends a connection for one command. `open` makes it; its errors pass through. */
  async use<T>(
    key: string,
    open: () => Promise<ssh2.Client>,
    work: (client: ssh2.Client) => Promise<T>,
  ): Promise<T> {
    const held = await this.take(key, open)
    try {
      return await held.channels(() => work(held.client))
    } finally {
      this.giveBack(key, held)
    }
  }

  /** Takes a connection out of use, for one that turned out to be dead; it ends when its last command has. */
  forget(key: string): void {
    const connecting = this.held.get(key)
    this.held.delete(key)
    clearTimeout(this.idle.get(key))
    this.idle.delete(key)
    void connecting?.then(
      held => {
        held.gone = true
        if (held.users === 0) held.client.end()
      },
      () => undefined,
    )
  }

  /** Ends everything, with the commands that still run. */
  async close(): Promise<void> {
    this.closed = true
    for (const wake of this.waiting.splice(0)) wake()
    const connecting = [...this.held.values()]
    for (const key of this.held.keys()) this.forget(key)
    await Promise.all(
      connecting.map(async promise => {
        const held = await promise.catch(() => undefined)
        if (held === undefined || held.closed) return
        const closed = new Promise<void>(resolve => held.client.once('close', () => resolve()))
        held.client.end()
        await closed
      }),
    )
  }

  private async take(key: string, open: () => Promise<ssh2.Client>): Promise<Held> {
    let connecting = this.held.get(key)
    if (connecting === undefined) {
      connecting = this.connect(key, open)
      this.held.set(key, connecting)
    }
    const held = await connecting
    held.users += 1
    clearTimeout(this.idle.get(key))
    this.idle.delete(key)
    return held
  }

  private async connect(key: string, open: () => Promise<ssh2.Client>): Promise<Held> {
    try {
      await this.slot()
      const client = await this.opened(open)
      const held: Held = { client, channels: pLimit(mostChannels), users: 0, gone: false, closed: false }
      client.once('close', () => {
        held.closed = true
        if (!held.gone) this.forget(key)
        this.freeSlot()
      })
      return held
    } catch (error) {
      this.held.delete(key)
      throw error
    }
  }

  private async opened(open: () => Promise<ssh2.Client>): Promise<ssh2.Client> {
    try {
      return await open()
    } catch (error) {
      this.freeSlot()
      throw error
    }
  }

  /** Waits for its turn; an idle connection to another node makes room. */
  private async slot(): Promise<void> {
    while (this.slots <= 0 && !this.closed) {
      const turn = new Promise<void>(resolve => this.waiting.push(resolve))
      this.endOneIdle()
      await turn
    }
    if (this.closed) throw new Unreachable('no new connections: this process is stopping')
    this.slots -= 1
  }

  private freeSlot(): void {
    this.slots += 1
    this.waiting.shift()?.()
  }

  private endOneIdle(): void {
    const [key] = this.idle.keys()
    if (key !== undefined) this.forget(key)
  }

  private giveBack(key: string, held: Held): void {
    held.users -= 1
    if (held.users > 0) return
    if (held.gone) held.client.end()
    else if (this.waiting.length > 0) this.forget(key)
    else {
      const timer = setTimeout(() => this.forget(key), this.idleMs)
      timer.unref()
      this.idle.set(key, timer)
    }
  }
}
