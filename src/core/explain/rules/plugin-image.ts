import { quoted } from '../../report/ask.js'
import { agentOf, agentPodsOf, podRowsOf, stateOf } from '../../report/network-agents.js'
import type { Report } from '../../report/report.js'
import { type Spoken, spokenIn } from '../../report/spoken.js'
import { type CauseRule, clue, type Suspicion } from '../rule.js'
import { ofKind, podOf, told } from './plugin-clues.js'

/** Why it is not pulled decides what is done. */
const kinds: [way: string, RegExp][] = [
  ['rate-limit', /toomanyrequests|too many requests|rate limit|429/i],
  [
    'refused',
    /no basic auth credentials|unauthorized|authentication required|pull access denied|\bdenied\b|forbidden|\b40[13]\b|authorization failed|ExpiredToken/i,
  ],
  ['platform', /no match for platform|exec format|no matching manifest/i],
  [
    'name',
    /manifest unknown|not found|does not exist|InvalidImageName|couldn't parse image|invalid reference format|ErrImageNeverPull|\b404\b/i,
  ],
  [
    'network',
    /timeout|timed out|no such host|no route|refused|unreachable|reset by peer|x509|tls|proxy|\bEOF\b|deadline exceeded|server misbehaving|lookup |canceled/i,
  ],
]
const wayOf = (text: string): string | undefined =>
  kinds.find(([, pattern]) => pattern.test(text.slice(0, 8_192)))?.[0]

const sandboxImage = (spoken: Spoken): boolean => spoken.reading.code === 'PAUSE_IMAGE_PULL'

const whose = (report: Report, messages: readonly Spoken[]): string | undefined => {
  if (messages.some(sandboxImage)) return 'sandbox'
  const byEvent = messages.some(each => agentOf(podOf(each)).length > 0)
  return byEvent || agentPodsOf(report).some(({ state }) => state === 'image') ? 'agent' : undefined
}

const agentLacksImage = (name: string): Suspicion => ({
  cause: 'cni-agent-down',
  way: 'image',
  for: [clue(`${quoted(name, 80)} waits for its image`, 'supports')],
})

const pull: CauseRule = {
  name: 'image-cannot-be-pulled',
  source: 'kubelet: Failed, ErrImagePull and ImagePullBackOff; FailedCreatePodSandBox for the sandbox image',
  read: report => {
    const messages = ofKind(report, 'image')
    const reason = messages.find(({ text }) => wayOf(text) !== undefined)
    const message = reason ?? messages[0]
    if (message === undefined) return []
    const way = whose(report, messages) ?? wayOf(message.text)
    const agent = messages.map(podOf).find(name => agentOf(name).length > 0)
    const done = pulledLater(report, message)
    return [
      {
        cause: 'image-pull',
        ...(way === undefined ? {} : { way }),
        for: [clue(told(message), reason === undefined ? 'supports' : 'proves')],
        against: done ? [clue('an image of that name was pulled later', 'supports')] : [],
        missing:
          reason === undefined ? ["the first event of the pull, which has the registry's own words"] : [],
      },
      ...(agent === undefined ? [] : [agentLacksImage(agent)]),
    ]
  },
}

/** Nothing else stands in the way once the image is there. */
const pulledLater = (report: Report, { reading }: Spoken): boolean => {
  const { image } = reading
  if (image === undefined) return false
  const last = spokenIn(report).findLast(({ text }) => text.includes(image))
  return (
    last !== undefined &&
    /successfully pulled image|already present on machine/i.test(last.text.slice(0, 2_000))
  )
}

const rows: CauseRule = {
  name: 'pods-wait-for-image',
  source:
    'kubectl: ErrImagePull, ImagePullBackOff, InvalidImageName, ErrImageNeverPull, with Init: before them or not',
  read: report => {
    const waiting = podRowsOf(report).filter(row => stateOf(row) === 'image')
    const [row] = waiting
    if (row === undefined) return []
    const agent = waiting.find(({ name }) => agentOf(name).length > 0)
    const says = `${quoted((agent ?? row).name, 80)} is ${quoted((agent ?? row).status, 40)}`
    return [
      {
        cause: 'image-pull',
        ...(agent === undefined ? {} : { way: 'agent' }),
        for: [clue(says, 'supports')],
        missing:
          ofKind(report, 'image').length > 0 ? [] : ['the events of that Pod: why the image does not come'],
      },
      ...(agent === undefined ? [] : [agentLacksImage(agent.name)]),
    ]
  },
}

export const imageRules: CauseRule[] = [pull, rows]
