import { causeCodes } from '../../../src/core/diagnosis/cause.js'
import { addressesAdvice } from '../../../src/core/explain/advice/addresses.js'
import { explain } from '../../../src/core/explain/explain.js'
import { addressesRules } from '../../../src/core/explain/rules/addresses.js'
import { readCase } from '../../../src/core/report/read-case.js'
import { heldRows } from './addresses-held-rows.js'
import { event, exhausted, said, sandboxes, store } from './addresses-rows.js'
import { otherRows, wayRows } from './addresses-way-rows.js'

const rows = [...heldRows, ...wayRows, ...otherRows]

describe('rules on addresses', () => {
  it.each(rows)('$id: $rule speaks for $cause: $weight', row => {
    const clues = said(row, row.seen)
    expect(clues.map(({ weight }) => weight)).toContain(row.weight)
    if (row.way !== undefined) expect(clues.map(({ way }) => way)).toContain(row.way)
  })

  it.each(rows)('$id: $rule does not say so of a look-alike', row => {
    expect(said(row, row.alike).filter(({ weight }) => weight === row.weight || weight === 'proves')).toEqual(
      [],
    )
  })

  // These two only speak against.
  const against = ['files-of-another-range', 'room-though-said-full']

  it('P-R3: every rule has its row', () => {
    const named = new Set([...rows.map(({ rule }) => rule), ...against])
    expect(addressesRules.map(({ name }) => name).filter(name => !named.has(name))).toEqual([])
  })

  it('P-R3: files of a range that the node no longer has are no leak', () => {
    const old = store(120, { subnet: '10.244.3.0/24 (old)', sample: ['10.244.3.4', '10.244.3.9'] })
    const answer = explain(
      readCase({ environment: { pod_cidr: '10.244.7.0/24' }, inputs: { ipam: old, crictl: sandboxes(20) } }),
    )
    expect(answer.also).not.toContain('ipam-leak')
    expect(answer.cause).not.toBe('ipam-leak')
  })

  it('P-R3: a message that says full is weighed against a count with room', () => {
    const answer = explain(
      readCase({ inputs: { events: [exhausted()], ipam: store(44), crictl: sandboxes(45, 1) } }),
    )
    expect(answer.confidence).toBe('low')
  })
})

describe('what is concluded of addresses', () => {
  const of = (inputs: Record<string, unknown>, environment: Record<string, string> = {}) =>
    explain(readCase({ environment, inputs }))

  it('P-R3: an event alone tells a leak from a full range by nothing: low, and it says what to ask', () => {
    const answer = of({ events: [exhausted()] })
    expect(answer).toMatchObject({ cause: 'ipam-leak', also: ['ipam-full-no-leak'], confidence: 'low' })
    expect(answer.ask_for.join()).toContain('owner ids')
  })

  it('P-R3: a few without owner in a range that is nearly full of the living: both are told, nobody is sure', () => {
    const answer = of({
      events: [exhausted('10.253.14.129-10.253.14.254')],
      ipam: store(125, { subnet: '10.253.14.128/25' }),
      crictl: sandboxes(124, 0, 6),
      node: { max_pods: 125 },
    })
    expect(answer).toMatchObject({ cause: 'ipam-leak', confidence: 'medium', also: ['ipam-full-no-leak'] })
  })

  it('P-E4: Pods that start at once hold addresses before they are listed: no leak', () => {
    const pods = Array.from({ length: 16 }, (_, n) => `shop p${n} 0/1 ContainerCreating 0 4s <none> n1`)
    expect(of({ ipam: store(52), crictl: sandboxes(38), pods }).cause).toBe('other')
  })

  it('P-E3: counted by hand: two of the 255 entries are bookkeeping', () => {
    const commands = [
      { cmd: 'ls /var/lib/cni/networks/cbr0 | wc -l', output: ['255'] },
      { cmd: 'crictl pods -q | wc -l', output: ['44'] },
    ]
    expect(of({ events: [exhausted()], commands })).toMatchObject({ cause: 'ipam-leak', confidence: 'high' })
  })

  it('P-R3: the second range set decides where the message names it', () => {
    const answer = of(
      {
        events: [exhausted('fd00:1::1-fd00:1::1f', 1)],
        ipam: store(60, { subnet: '10.244.7.0/24, fd00:1::/123' }),
        crictl: sandboxes(34, 0, 4),
      },
      {},
    )
    expect(answer).toMatchObject({ cause: 'ipam-full-no-leak', confidence: 'high' })
  })

  it('P-R3: teardown that fails at its agent is behind the agent', () => {
    const answer = of({
      events: [
        event(
          'error killing pod: failed to destroy network for sandbox "1": unable to connect to Cilium agent',
          'FailedKillPod',
        ),
      ],
    })
    expect(answer.confidence).not.toBe('high')
  })
})

describe('advice on addresses', () => {
  const own = ['ipam-leak', 'ipam-full-no-leak', 'duplicate-ip', 'cni-del-failing', 'sandbox-name-conflict']

  it.each(own)('P-A6: %s has actions and warnings for every way', cause => {
    expect(causeCodes).toContain(cause)
    const all = addressesAdvice.filter(each => each.cause === cause)
    expect(all.some(({ way }) => way === undefined)).toBe(true)
    expect(all.filter(({ actions, warnings }) => actions.length === 0 || warnings.length === 0)).toEqual([])
  })

  it('P-A6: no kubelet or runtime restart is an action while addresses are leaked', () => {
    const restarts = addressesAdvice
      .filter(({ cause }) => cause === 'ipam-leak')
      .flatMap(({ actions }) => actions)
      .filter(({ kind }) => kind === 'restart-unit')
    expect(restarts).toEqual([])
  })
})
