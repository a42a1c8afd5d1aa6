import type { Symptom } from '../../../src/core/incident/symptom.js'
import {
  addSymptom,
  endTicket,
  shouldOpen,
  type Ticket,
  ticketId,
  waitedMs,
} from '../../../src/core/incident/ticket.js'
import { minute, now } from '../leaking-node.js'

const hour = 60 * minute
const stuck = (
  name: string,
  podUid: string,
  since = now - 10 * minute,
  over: Partial<Symptom> = {},
): Symptom =>
  ({
    kind: 'stuck-sandbox',
    node: 'node-07',
    workload: { namespace: 'shop', kind: 'Deployment', name },
    pod: `${name}-${podUid}`,
    podUid,
    since,
    message: undefined,
    exhausted: false,
    ...over,
  }) as Symptom
const rollout = (podUid: string | undefined): Symptom => ({
  kind: 'stuck-rollout',
  node: 'node-07',
  workload: { namespace: 'shop', kind: 'Deployment', name: 'exporter' },
  pod: undefined,
  podUid,
  since: now - 20 * minute,
  desired: 18,
  ready: 17,
})
const all = (...symptoms: Symptom[]): Ticket[] =>
  symptoms.reduce<Ticket[]>((tickets, symptom) => addSymptom(tickets, symptom, now), [])
const end = (at: number, node?: string) => ({
  at,
  how: 'deleted' as const,
  replacement: node === undefined ? undefined : { pod: 'api-new', node, afterMs: 4_000 },
})

describe('C3: tickets', () => {
  test('oldest first, one a workload and Pod', () => {
    const tickets = all(stuck('query', 'b', now - hour), stuck('api', 'a', now - 2 * hour))
    expect(tickets.map(ticket => ticket.workload.name)).toEqual(['api', 'query'])
    expect(tickets[0]).toMatchObject({
      id: 'shop/Deployment/api a',
      firstSeen: now,
      lastSeen: now,
      ended: undefined,
    })
  })

  test('the same Pod again renews its ticket and keeps what was known', () => {
    const first = addSymptom([], stuck('api', 'a', now - hour, { message: 'm', exhausted: true }), now)
    const again = addSymptom(first, stuck('api', 'a', now - minute), now + minute)
    expect(again).toHaveLength(1)
    expect(again[0]).toMatchObject({
      since: now - hour,
      firstSeen: now,
      lastSeen: now + minute,
      message: 'm',
      exhausted: true,
    })
  })

  test("a DaemonSet's Pod seen as sandbox and as rollout is one ticket, and the rollout's", () => {
    const tickets = all(stuck('exporter', 'x'), rollout('x'))
    expect(tickets).toHaveLength(1)
    expect(tickets[0]).toMatchObject({
      kind: 'stuck-rollout',
      desired: 18,
      ready: 17,
      since: now - 20 * minute,
    })
  })

  test('P-R2: deleted, replaced elsewhere in 4 s: the ticket keeps it, and the next Pod is a new ticket', () => {
    const ended = endTicket(
      all(stuck('api', 'a')),
      ticketId(stuck('api', 'a')),
      end(now + minute, 'node-04'),
      now + minute,
    )
    expect(ended[0]?.ended).toEqual({
      at: now + minute,
      how: 'deleted',
      replacement: { pod: 'api-new', node: 'node-04', afterMs: 4_000 },
    })
    expect(addSymptom(ended, stuck('api', 'a2'), now + hour)).toHaveLength(2)
    expect(addSymptom(ended, stuck('api', 'a'), now + hour)).toHaveLength(2)
  })

  test('a second end only adds where the replacement started', () => {
    const id = ticketId(stuck('api', 'a'))
    const once = endTicket(all(stuck('api', 'a')), id, end(now), now)
    expect(endTicket(once, id, end(now + hour, 'node-04'), now + hour)[0]?.ended).toEqual({
      at: now,
      how: 'deleted',
      replacement: { pod: 'api-new', node: 'node-04', afterMs: 4_000 },
    })
  })

  test('ending what is not there changes nothing', () => {
    const tickets = all(stuck('api', 'a'))
    expect(endTicket(tickets, 'nonsense', end(now), now)).toEqual(tickets)
  })

  test('how long it waited, until its end or until now', () => {
    const [ticket] = all(stuck('api', 'a', now - 31 * minute))
    if (ticket === undefined) throw new Error('no ticket')
    expect(waitedMs(ticket, now)).toBe(31 * minute)
    expect(waitedMs({ ...ticket, ended: end(now - minute) }, now)).toBe(30 * minute)
  })
})

describe('C3: when a node deserves a thread', () => {
  const settings = { windowMs: 48 * hour, orphans: 1 }
  const clean = { orphaned: 0, taken: 40, usable: 253 }
  const ended = (ticket: Ticket[], at: number): Ticket[] => ticket.map(one => ({ ...one, ended: end(at) }))

  test.each<[string, Ticket[], Parameters<typeof shouldOpen>[1], boolean, RegExp]>([
    [
      'orphans',
      all(stuck('api', 'a')),
      { orphaned: 12, taken: 52, usable: 253 },
      true,
      /12 addresses belong to sandboxes that are gone/,
    ],
    [
      'an exhausted range',
      all(stuck('api', 'a')),
      { orphaned: 0, taken: 253, usable: 253 },
      true,
      /all 253 addresses are taken/,
    ],
    [
      'orphans without any ticket: the sweep',
      [],
      { orphaned: 1, taken: 2, usable: 253 },
      true,
      /1 addresses/,
    ],
    [
      'the plugin said that the range is used up',
      all(stuck('api', 'a', now, { exhausted: true })),
      undefined,
      true,
      /told api that the range/,
    ],
    ['a stuck rollout', all(rollout('x')), clean, true, /rollout of exporter is stuck/],
    ['a second workload', all(stuck('api', 'a'), stuck('query', 'b')), clean, true, /2 workloads/],
    [
      'a second workload although the first was deleted meanwhile',
      [...ended(all(stuck('api', 'a')), now), ...all(stuck('query', 'b'))],
      clean,
      true,
      /2 workloads/,
    ],
    ['one workload, clean store', all(stuck('api', 'a')), clean, false, /one workload is stuck/],
    [
      'one workload, two Pods',
      all(stuck('api', 'a'), stuck('api', 'b')),
      clean,
      false,
      /one workload is stuck/,
    ],
    ['one workload, not measured', all(stuck('api', 'a')), undefined, false, /one workload is stuck/],
    ['nothing', [], clean, false, /nothing is stuck/],
    [
      'an unknown capacity is not a full range',
      [],
      { orphaned: 0, taken: 40, usable: undefined },
      false,
      /nothing/,
    ],
  ])('%s', (_name, tickets, gap, open, why) => {
    const opening = shouldOpen(tickets, gap, now, settings)
    expect(opening.open).toBe(open)
    expect(opening.why).toMatch(why)
  })

  test('what a Pod that is gone was told does not outweigh a measurement with room left', () => {
    const tickets = ended(all(stuck('api', 'a', now, { exhausted: true })), now)
    expect(shouldOpen(tickets, clean, now, settings).open).toBe(false)
    expect(shouldOpen(tickets, undefined, now, settings).open).toBe(true)
  })

  test('a second workload outside the window does not count', () => {
    const [old] = all(stuck('query', 'b'))
    const tickets = [...(old ? [{ ...old, lastSeen: now - 49 * hour }] : []), ...all(stuck('api', 'a'))]
    expect(shouldOpen(tickets, clean, now, settings).open).toBe(false)
  })
})
