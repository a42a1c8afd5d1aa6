import { linesWith, quoted } from '../../../report/ask.js'
import { linksSeen } from '../../../report/net/links.js'
import { type CauseRule, clue } from '../../rule.js'
import { wholeTables } from './routes.js'
import { clueAt, first, suspect } from './suspect.js'

const three = /^\s*(?:0|32766|32767):\s{1,8}from all lookup (?:local|main|default|25[345])\s*$/

const policyRules: CauseRule = {
  name: 'policy-rules-are-gone',
  source:
    'Networks that route by rule (Amazon VPC, Cilium, Calico BPF): a network service that starts again removes rules it does not know',
  read: report => {
    const asked = report.commands.filter(
      ({ cmd, output }) => /\bip\b.{0,20}\bru(?:le)?\b/.test(cmd) && output.some(line => /lookup/.test(line)),
    )
    const bare = asked.filter(({ output }) => output.every(line => line.trim() === '' || three.test(line)))
    const rich = asked.filter(each => !bare.includes(each))
    return suspect(
      'route-missing',
      'rules',
      bare.length > 0 && rich.length > 0
        ? [
            clue(
              `the rules that choose a route table are gone here (${quoted(bare[0]?.cmd ?? '', 60)}) and there on another node`,
              'proves',
            ),
          ]
        : [],
    )
  },
}

const podLinks: CauseRule = {
  name: 'pod-links-without-routes',
  source: 'Routed networks set a route of one address for each Pod link (Calico, Amazon and Azure VPC, GKE)',
  read: report => {
    const ends = linksSeen(report).filter(
      ({ name, up }) => up !== false && /^(?:cali[0-9a-f]{6}|eni[0-9a-f]{8}|azv|gke[0-9a-f]{6})/.test(name),
    )
    const table = wholeTables(report).find(({ routes }) => routes.some(({ to }) => to.bits === 0))
    const none =
      table !== undefined &&
      ends.length > 0 &&
      !table.routes.some(({ dev }) => /^(?:cali|eni|azv|gke)/.test(dev ?? ''))
    const restarted = linesWith(
      report,
      /(?:stopping|started|restart\w*|reload\w*)[^\n]{0,60}(?:network configuration|networkd|networkmanager|network manager|networking\.service)/i,
      'journal',
      'command',
    )
    return suspect('route-missing', 'rules', [
      ...(none
        ? [
            clue(
              `the links of ${ends.length} Pods are there, no route of the node leads to any of them`,
              'proves',
            ),
          ]
        : []),
      ...first(restarted).map(line =>
        clueAt(line, "the host's network service started again", none ? 'supports' : 'hints'),
      ),
    ])
  },
}

export const routeRuleRules: CauseRule[] = [policyRules, podLinks]
