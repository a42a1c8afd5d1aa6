import pLimit from 'p-limit'

/**
 * Looks at keys, each once at a time, a few different ones at once; a key poked while it is being looked at is looked
 * at again afterwards. `look` must not throw.
 */
export class WorkQueue {
  readonly #look: (key: string) => Promise<void>
  readonly #few: ReturnType<typeof pLimit>
  #waiting = new Set<string>()
  #working: Promise<void> | undefined
  #stopped = false

  constructor(look: (key: string) => Promise<void>, atOnce: number) {
    this.#look = look
    this.#few = pLimit(atOnce)
  }

  poke(key: string): void {
    if (this.#stopped) return
    this.#waiting.add(key)
    this.#start()
  }

  /** Resolves when nothing waits and nothing is being looked at. */
  async idle(): Promise<void> {
    while (this.#working) await this.#working
  }

  async stop(): Promise<void> {
    this.#stopped = true
    this.#waiting.clear()
    await this.#working
  }

  #start(): void {
    this.#working ??= this.#work().finally(() => {
      this.#working = undefined
      // Poked between the last look and this line.
      if (this.#waiting.size > 0) this.#start()
    })
  }

  async #work(): Promise<void> {
    // The keys of one burst are taken together.
    await Promise.resolve()
    while (this.#waiting.size > 0) {
      const batch = [...this.#waiting]
      this.#waiting.clear()
      await Promise.all(batch.map(key => this.#few(() => (this.#stopped ? undefined : this.#look(key)))))
    }
  }
}
