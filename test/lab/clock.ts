import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { fileTime, type TimeBase } from '../../src/adapters/system/clock.js'

/**
 * The story's clock: real time plus an offset, which a test or the demo moves forward at will.
 * It lives in a file, so that bot, worker and the nodes' `date` all read the same time.
 * Times are milliseconds since 1970.
 */
export class LabClock {
  readonly path: string

  constructor(path: string, start: number) {
    this.path = path
    this.write({ real: Date.now(), virtual: start, rate: 1 })
  }

  now(): number {
    return fileTime(this.base(), Date.now())
  }

  /** Moves the clock to `time`; never backwards. */
  jumpTo(time: number): void {
    const now = this.now()
    this.write({ real: Date.now(), virtual: Math.max(now, time), rate: this.base().rate })
  }

  advance(milliseconds: number): void {
    this.jumpTo(this.now() + milliseconds)
  }

  /** 1 is real time; 60 lets a minute pass each second. */
  setRate(rate: number): void {
    this.write({ real: Date.now(), virtual: this.now(), rate })
  }

  private base(): TimeBase {
    return JSON.parse(readFileSync(this.path, 'utf8')) as TimeBase
  }

  private write(base: TimeBase): void {
    const next = `${this.path}.next`
    // `date` on the lab's nodes is a shell script: it reads the second, plain line format.
    writeFileSync(`${this.path}.sh`, `${base.real} ${base.virtual} ${base.rate}\n`)
    writeFileSync(next, JSON.stringify(base))
    renameSync(next, this.path)
  }
}
