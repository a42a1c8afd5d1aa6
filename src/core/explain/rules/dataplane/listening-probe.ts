import { linesWith } from '../../../report/ask.js'
import { onLoopback } from '../../../report/net/listeners.js'
import type { Report } from '../../../report/report.js'
import type { CauseRule } from '../../rule.js'
import { listeners } from './listening.js'
import { clueAt, first, suspect } from './suspect.js'

const probed =
  /"?(?:liveness|readiness|startup)Probe\b|"?(?:httpGet|tcpSocket|grpc)"?:|\b(?:Liveness|Readiness|Startup):\s{1,10}(?:http-get|tcp-socket|grpc)/

/** Ports of probes that name no host of their own: these go to the Pod's address. */
const probePorts = (report: Report): Set<number> =>
  new Set(
    report.commands
      .map(({ cmd, output }) => `${cmd}\n${output.join('\n')}`.slice(0, 60_000))
      .filter(text => probed.test(text) && !/"?host"?:\s{0,3}"?(?:127\.|localhost)/.test(text))
      .flatMap(text => [
        ...text.matchAll(
          /"?port"?:\s{0,3}(\d{1,5})\b|(?:http-get https?:\/\/|tcp-socket )[\w.-]{0,60}:(\d{1,5})/g,
        ),
      ])
      .map(([, json, described]) => Number(json ?? described)),
  )

const probeOfLoopback: CauseRule = {
  name: 'probe-asks-a-loopback-port',
  source:
    "Kubernetes, probes: the kubelet asks the Pod's address unless the probe names a host; drbd-reactor#5",
  read: report => {
    const ports = probePorts(report)
    const told = linesWith(report, /\blisten\w*|\bserving|\bstarted|\bbound\b/i).filter(({ text }) => {
      const [, port] =
        /(?:127\.\d{1,3}\.\d{1,3}\.\d{1,3}|localhost|\[::1\]):(\d{1,5})/.exec(text.slice(0, 2_000)) ?? []
      return port !== undefined && ports.has(Number(port))
    })
    const seen = listeners(report).filter(each => onLoopback(each) && ports.has(each.port))
    return suspect(
      'app-not-listening',
      'loopback',
      first([...seen, ...told]).map(each =>
        clueAt(
          each,
          "the probe asks the Pod's address, the process listens at the loopback address alone",
          'proves',
        ),
      ),
    )
  },
}

export const listeningProbeRules: CauseRule[] = [probeOfLoopback]
