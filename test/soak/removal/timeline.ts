import type { LabClock } from '../../lab/clock.js'
import type { PluginShells } from './plugin-shells.js'

interface Event {
  due: number
  run: () => void
}

/** What is still to happen on a node, by its own clock. The clock moves only here. */
export class Timeline {
  private readonly events: Event[] = []
  private leap: Promise<void> | undefined

  constructor(
    readonly clock: LabClock,
    private readonly plugin: PluginShells,
  ) {}

  at(due: number, run: () => void): void {
    this.events.push({ due, run })
  }

  in(ms: number, run: () => void): void {
    this.at(this.clock.now() + ms, run)
  }

  /** A little time passes; what is due meanwhile happens. */
  pass(ms: number): void {
    this.fire(this.clock.now() + ms)
    this.clock.advance(ms)
  }

  /** Much time passes at once: first everything that would have happened meanwhile does, ADDs and DELs to their end. */
  async passLong(ms: number): Promise<void> {
    await this.leapt()
    this.leap = this.leaping(ms).finally(() => {
      this.leap = undefined
    })
    await this.leap
  }

  /** While time leaps no ADD may begin: it would take as long as the leap. */
  async leapt(): Promise<void> {
    while (this.leap !== undefined) await this.leap
  }

  private async leaping(ms: number): Promise<void> {
    await this.plugin.idle()
    const until = this.clock.now() + ms
    // What ends meanwhile brings new events.
    while (this.events.some(({ due }) => due <= until)) {
      this.fire(until)
      await this.plugin.idle()
    }
    this.clock.jumpTo(until)
  }

  private fire(until: number): void {
    const due = this.events.filter(event => event.due <= until).toSorted((a, b) => a.due - b.due)
    for (const event of due) {
      this.events.splice(this.events.indexOf(event), 1)
      event.run()
    }
  }
}
