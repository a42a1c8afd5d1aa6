interface Counted {
  times: number
}

/** What can be made to go wrong. Each switch counts down and then is off; `clear` turns all off. */
export class Faults {
  private rates = new Map<string, Counted & { seconds: number }>()
  private errors = new Map<
    string,
    Counted & { how: { status: number } | { code: string }; stored: boolean }
  >()
  private delays = new Map<string, Counted & { milliseconds: number }>()
  private expired: Counted = { times: 0 }
  private acks: Counted = { times: 0 }
  private doubles: Counted = { times: 0 }
  /** How long a shared file stays without its message; Slack does this work after it answered. */
  shareDelay = 0

  /** 429 with Retry-After for calls that name this channel (`*`: any call). */
  rateLimit(channel: string, seconds: number, times = 1): void {
    this.rates.set(channel, { seconds, times })
  }

  /** The call is done, and then answered with a 500: the caller cannot know that it worked. */
  failAfterStoring(method: string, times = 1): void {
    this.errors.set(method, { how: { status: 500 }, stored: true, times })
  }

  /** The call is refused before anything happens, with an HTTP status or one of Slack's codes. */
  failBefore(method: string, how: { status: number } | { code: string }, times = 1): void {
    this.errors.set(method, { how, stored: false, times })
  }

  delay(method: string, milliseconds: number, times = 1): void {
    this.delays.set(method, { milliseconds, times })
  }

  /** The next acknowledgements are lost on their way. */
  dropAcks(times = 1): void {
    this.acks = { times }
  }

  /** The next envelopes are delivered twice. */
  duplicateDeliveries(times = 1): void {
    this.doubles = { times }
  }

  /** The next trigger ids are born older than three seconds. */
  expireTriggers(times = 1): void {
    this.expired = { times }
  }

  clear(): void {
    this.rates.clear()
    this.errors.clear()
    this.delays.clear()
    for (const each of [this.expired, this.acks, this.doubles]) each.times = 0
    this.shareDelay = 0
  }

  takeRateLimit(channel: string | undefined): number | undefined {
    const rate =
      take(channel === undefined ? undefined : this.rates.get(channel)) ?? take(this.rates.get('*'))
    return rate?.seconds
  }

  takeError(method: string, stored: boolean): { status: number } | { code: string } | undefined {
    const found = this.errors.get(method)
    return found?.stored === stored ? take(found)?.how : undefined
  }

  takeDelay(method: string): number {
    return take(this.delays.get(method))?.milliseconds ?? 0
  }

  takeDroppedAck(): boolean {
    return take(this.acks) !== undefined
  }

  takeDuplicate(): boolean {
    return take(this.doubles) !== undefined
  }

  takeExpired(): boolean {
    return take(this.expired) !== undefined
  }
}

const take = <T extends Counted>(counted: T | undefined): T | undefined => {
  if (counted === undefined || counted.times <= 0) return undefined
  counted.times -= 1
  return counted
}
