/** `sre-oncall` with prefix `S` → `SSREONCALL`: the same on every run, and readable in a log. */
export const readableId = (prefix: string, name: string): string =>
  `${prefix}${name.toUpperCase().replace(/[^A-Z0-9]/g, '')}`

/** Ids that are counted up, so that a run can be repeated exactly. */
export class Counter {
  private count = 0

  next(prefix: string): string {
    this.count += 1
    return `${prefix}${String(this.count).padStart(8, '0')}`
  }
}

/** Message times: seconds of the clock and six digits that count up; never the same twice, never backwards. */
export class MessageTimes {
  private second = 0
  private count = 0

  next(nowMs: number): string {
    const now = Math.floor(nowMs / 1000)
    if (now > this.second) {
      this.second = now
      this.count = 0
    }
    this.count += 1
    if (this.count > 999_999) {
      this.second += 1
      this.count = 1
    }
    return `${this.second}.${String(this.count).padStart(6, '0')}`
  }
}

/** Orders two `seconds.digits` strings; as numbers they would lose their last digits. */
export const compareTs = (a: string, b: string): number => {
  const [aSeconds = '', aRest = ''] = a.split('.')
  const [bSeconds = '', bRest = ''] = b.split('.')
  return Number(aSeconds) - Number(bSeconds) || Number(aRest) - Number(bRest)
}
