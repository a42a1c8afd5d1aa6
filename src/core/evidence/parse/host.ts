import { known, unknown, type Answer, type Host } from '../bundle.js'
import { readSeconds, type Section } from './frames.js'
import { whyFailed } from './section.js'
import { plain } from './text.js'

/** Our clock around the one command: `at` when it was sent, `now` when its answer was there. */
export interface Asked {
  at: number
  now: number
}

/**
 * The node's clock minus ours, as far as it is certain: the answer was made between sending and receiving, so a time
 * within counts as no difference.
 */
export const skewOf = (nodeNow: number, { at, now }: Asked): number => {
  if (nodeNow < at) return nodeNow - at
  return nodeNow > now ? nodeNow - now : 0
}

export const readHost = (section: Section, asked: Asked, at: number): Answer<Host> => {
  const fields = new Map(
    section.body.split('\n').map(line => [line.split(' ', 1)[0] ?? '', line.replace(/^\S* ?/, '')]),
  )
  const now = readSeconds(fields.get('now'))
  const booted = readSeconds(fields.get('btime'))
  const bootId = /^[0-9a-f-]{36}$/.exec(fields.get('boot_id') ?? '')?.[0]
  if (now === undefined || booted === undefined || bootId === undefined) {
    const missing =
      now === undefined ? 'date' : booted === undefined ? '/proc/stat' : '/proc/sys/kernel/random/boot_id'
    const why = section.said === '' ? 'answered nothing that can be read' : plain(section.said)
    return unknown(section.code === 0 ? `${missing}: ${why}` : whyFailed(missing, section), at)
  }
  return known(
    {
      hostname: plain(fields.get('hostname') ?? '', 253),
      now,
      skewMs: skewOf(now, asked),
      bootId,
      bootedAt: booted,
    },
    at,
  )
}
