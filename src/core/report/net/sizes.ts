import { linesWith } from '../ask.js'
import type { Report } from '../report.js'
import { attemptsSeen } from './attempts.js'

const size = /(?:^|\s)-s\s{0,3}(\d{2,5})\b|(\d{3,5})\(\d{3,5}\) bytes of data/

export interface SizedPing {
  bytes: number
  passes: boolean
  /** The sender's own link is smaller: that says nothing of the way. */
  ownLink: boolean
  text: string
}

/** Each run of ping, by its own size: several may stand in one output. */
export const sizedPings = (report: Report): SizedPing[] => {
  const all = report.commands.flatMap(({ cmd, output }) => {
    if (!/\bping6?\b/.test(cmd)) return []
    const found: SizedPing[] = []
    let bytes = Number(size.exec(cmd)?.slice(1).find(Boolean) ?? 56)
    for (const line of output.slice(0, 500).map(each => each.slice(0, 400))) {
      const own = size.exec(line)?.slice(1).find(Boolean) ?? /^(?:size |-s )?(\d{3,4}):? /.exec(line)?.[1]
      if (own !== undefined) bytes = Number(own)
      const bad = /100% packet loss|too long|frag(?:mentation)? needed|no reply|timed? ?out|fail/i.test(line)
      const good = /\b[1-9]\d{0,2} (?:packets )?received|(?<![\d.])0% packet loss|bytes from|\bok\b/i.test(
        line,
      )
      if (bad || good)
        found.push({ bytes, passes: !bad, ownLink: /local error|^ping: .*too long/i.test(line), text: line })
    }
    return found
  })
  const passes = all.filter(({ passes: good }) => good).map(({ bytes }) => bytes)
  const fails = all.filter(each => !each.passes)
  return fails.filter(({ bytes }) => bytes > 200 && passes.some(other => other < bytes))
}

const asksSize =
  /unreachable - need to frag|frag(?:mentation)? needed and DF set|packet too big|need to frag \(mtu|message too long|EMSGSIZE|fragmentation needed/i

export const tooBig = (report: Report): { text: string }[] => linesWith(report, asksSize)

const stalled =
  /timed out after \d{1,9} milliseconds with [1-9]\d{0,12} (?:out of \d{1,14} )?bytes received|with 0 (?:out of \d{1,14} )?bytes received|TLS handshake timeout|SSL connection timeout|client hello/i

/** Transfers that begin and stop: a small answer of the same host arrived, or the connection was open. */
export const halfTransfers = (report: Report): { text: string }[] => {
  const lines = linesWith(report, stalled)
  const tries = attemptsSeen(report)
  const answers = ({ text, source }: { text: string; source: string }): boolean => {
    const same = tries.find(each => each.text === text && each.by === source)
    return tries.some(each => each.outcome === 'open' && each.ip !== undefined && each.ip === same?.ip)
  }
  const stops = (cmd: string): boolean =>
    report.commands.some(
      each => each.cmd === cmd && each.output.some(line => /timed? ?out|reset/i.test(line)),
    )
  return lines.filter(
    line =>
      (!/client hello/i.test(line.text) || stops(line.source)) &&
      (answers(line) ||
        /[1-9]\d{0,12} (?:out of|bytes received)|handshake|SSL connection|client hello/i.test(line.text)),
  )
}
