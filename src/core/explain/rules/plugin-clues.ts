import type { CauseCode } from '../../diagnosis/cause.js'
import type { CniMessageKind } from '../../diagnosis/cni-message.js'
import { quoted } from '../../report/ask.js'
import { isForeign, networkOfPlugin } from '../../report/network-agents.js'
import type { Report } from '../../report/report.js'
import { type Spoken, spokenIn } from '../../report/spoken.js'

export const ofKind = (report: Report, ...kinds: CniMessageKind[]): Spoken[] =>
  spokenIn(report).filter(({ reading }) => kinds.includes(reading.kind))

export const ofCode = (report: Report, ...codes: string[]): Spoken[] =>
  spokenIn(report).filter(({ reading }) => codes.includes(reading.code))

/** Messages whose likeliest cause is this one. */
export const firstFor = (report: Report, cause: CauseCode): Spoken[] =>
  spokenIn(report).filter(({ reading }) => reading.causes[0] === cause)

export const saying = (report: Report, pattern: RegExp): Spoken[] =>
  spokenIn(report).filter(({ text }) => pattern.test(text.slice(0, 8_192)))

/** What a message says, and its own words from where it was decided. */
export const told = ({ reading, text }: Spoken): string => {
  const { matched, plain, says } = reading
  const at = matched === undefined ? -1 : plain.indexOf(matched)
  return `${says} ${quoted(at < 0 ? text : plain.slice(at), 120)}`
}

/** The Pod an event is about, without its kind and namespace. */
export const podOf = ({ object }: Spoken): string => object?.slice(0, 260).split('/').at(-1) ?? ''

/** Of the runtime, not of an agent. */
export const runtimeSocket = /(?:containerd|crio|cri-dockerd|dockershim|docker)\.sock\b/

/** The API server's, which is no agent of the node. */
const serverPort = /(?:dial tcp|https:\/\/)[^\n]{1,80}:(?:443|6443)\b/

/** A plugin or the runtime says that the agent is not there; not where the plugin is one that nobody runs here. */
export const unanswered = (report: Report): Spoken[] =>
  firstFor(report, 'cni-agent-down').filter(({ reading }) => {
    const said = reading.plain.slice(0, 8_192)
    if (runtimeSocket.test(said) || serverPort.test(said)) return false
    const plugins = [reading.plugin, ...reading.delegates].map(networkOfPlugin)
    return (
      (reading.kind === 'agent-down' || reading.kind === 'agent-error') &&
      !plugins.some(each => isForeign(report, each))
    )
  })

export const isProbe = ({ reading }: Spoken): boolean =>
  reading.code === 'CNI_AGENT_NOT_READY' || reading.code === 'CNI_AGENT_CRASHING'
