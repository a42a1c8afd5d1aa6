import { linesWith } from '../../../report/ask.js'
import type { Report } from '../../../report/report.js'
import type { CauseRule } from '../../rule.js'
import { clueAt, first, suspect } from './suspect.js'

interface TunnelEnd {
  ip: string | undefined
  mac: string
  text: string
}

/** The tunnel's own address and MAC, as its node prints them. */
const ownEnds = (report: Report): TunnelEnd[] =>
  report.commands.flatMap(({ output }) => {
    const text = output.join('\n').slice(0, 60_000)
    return text.split(/^\d{1,6}: /m).flatMap(block => {
      if (!/^(?:flannel|vxlan)[\w.-]{0,12}[:@]/.test(block)) return []
      const mac = /link\/ether ([0-9a-f:]{17})/i.exec(block)?.[1]
      const ip = /\binet (\d{1,3}(?:\.\d{1,3}){3})/.exec(block)?.[1]
      return mac === undefined ? [] : [{ ip, mac: mac.toLowerCase(), text: block }]
    })
  })

const entry =
  /\((\d{1,3}(?:\.\d{1,3}){3})\) at ([0-9a-f:]{17})|(\d{1,3}(?:\.\d{1,3}){3}) dev (?:flannel|vxlan)\S{0,12} lladdr ([0-9a-f:]{17})/i

/** What other nodes have for it: neighbour entries. */
const knownEnds = (report: Report): TunnelEnd[] =>
  linesWith(report, entry, 'command').flatMap(({ text }) => {
    const [, ip, mac, ip2, mac2] = entry.exec(text) ?? []
    const found = mac ?? mac2
    return found === undefined ? [] : [{ ip: ip ?? ip2, mac: found.toLowerCase(), text }]
  })

const announced = (report: Report): TunnelEnd[] =>
  linesWith(report, /VtepMAC/i, 'command').flatMap(({ text }) => {
    const mac = /VtepMAC[\\"': ]{1,8}([0-9a-f:]{17})/i.exec(text)?.[1]
    return mac === undefined ? [] : [{ ip: undefined, mac: mac.toLowerCase(), text }]
  })

const macDiffers: CauseRule = {
  name: 'tunnel-end-has-another-mac',
  source:
    'flannel#1155, #1788: a tunnel made anew has a new MAC; peers send to the one in the annotation, and the node drops it',
  read: report => {
    const own = ownEnds(report)
    const known = knownEnds(report)
    const told = announced(report)
    const stale = known.filter(each => own.some(end => end.ip === each.ip && end.mac !== each.mac))
    const wrong =
      own.length === 1 && told.length === 1 ? told.filter(({ mac }) => own.every(end => end.mac !== mac)) : []
    const old = told.length > 0 ? known.filter(({ mac }) => !told.some(each => each.mac === mac)) : []
    return suspect(
      'dataplane-stale',
      stale.length > 0 && told.some(({ mac }) => stale.some(each => each.mac === mac))
        ? 'tunnel-announced'
        : 'tunnel',
      [
        ...first(stale).map(each =>
          clueAt(each, 'another node sends to a tunnel end that is no longer there', 'proves'),
        ),
        ...first(wrong).map(each =>
          clueAt(each, 'the API announces another tunnel end than the node has', 'supports'),
        ),
        ...first(old).map(each =>
          clueAt(each, 'the entry of another tunnel end is none that the API announces', 'supports'),
        ),
      ],
    )
  },
}

export const staleTunnelRules: CauseRule[] = [macDiffers]
