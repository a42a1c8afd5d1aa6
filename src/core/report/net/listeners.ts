import { once } from '../once.js'
import type { CommandSeen, Report } from '../report.js'
import { insidePod } from './links.js'

/** A socket that waits for connections. */
export interface Listener {
  /** `*` for every address. */
  address: string
  port: number
  cmd: string
  text: string
}

export interface ListenersSeen {
  cmd: string
  inPod: boolean
  /** Nothing was filtered out: a port that is absent is not listened on. */
  whole: boolean
  listeners: Listener[]
}

const local = /(?:^|\s)(\[?[0-9a-f:.*]{1,45}\]?(?:%[\w.-]{1,15})?):(\d{1,5})\s/i
const udp = /^\s*(?:udp6?|UNCONN)\b/i

const everywhere = (address: string): boolean => ['*', '0.0.0.0', '::', '[::]', ''].includes(address)

const readListener = (line: string, cmd: string): Listener | undefined => {
  if (!/\bLISTEN(?:ING)?\b/.test(line) && !udp.test(line)) return undefined
  const [, address = '', port] = local.exec(`${line.slice(0, 400)} `) ?? []
  if (port === undefined) return undefined
  const bare = address.replace(/%.*$/, '').replaceAll(/[[\]]/g, '')
  return { address: everywhere(bare) ? '*' : bare, port: Number(port), cmd, text: line }
}

const asks = /\b(?:ss|netstat|lsof)\b/

const ofCommand = ({ cmd, output }: CommandSeen): ListenersSeen[] => {
  if (!asks.test(cmd.slice(0, 1_000))) return []
  const listeners = output.slice(0, 2_000).flatMap(line => readListener(line, cmd) ?? lsof(line, cmd) ?? [])
  return [{ cmd, inPod: insidePod(cmd), whole: !/\||\bgrep\b|sport/.test(cmd), listeners }]
}

/** `java 1 root 12u IPv4 123 0t0 TCP 127.0.0.1:8080 (LISTEN)`. */
const lsof = (line: string, cmd: string): Listener | undefined => {
  const [, address = '', port] = /TCP (\S{1,45}):(\d{1,5}) \(LISTEN\)/.exec(line.slice(0, 400)) ?? []
  if (port === undefined) return undefined
  const bare = address === 'localhost' ? '127.0.0.1' : address.replaceAll(/[[\]]/g, '')
  return { address: everywhere(bare) ? '*' : bare, port: Number(port), cmd, text: line }
}

export const listenersSeen = once((report: Report): ListenersSeen[] => report.commands.flatMap(ofCommand))

export const onLoopback = ({ address }: Listener): boolean => /^(?:127\.|::1$|::ffff:127\.)/.test(address)
