import { dataplaneAdvice } from '../../../src/core/explain/advice/dataplane.js'
import { explain } from '../../../src/core/explain/explain.js'
import { dataplaneRules } from '../../../src/core/explain/rules/dataplane.js'
import { readCase } from '../../../src/core/report/read-case.js'
import { filterRows, sizeRows } from './dataplane-filter-rows.js'
import { listeningRows, staleRows } from './dataplane-node-rows.js'
import { routeRows } from './dataplane-path-rows.js'
import { type Inputs, type Row, ran, serviceRows } from './dataplane-rows.js'

const rows = [...serviceRows, ...staleRows, ...listeningRows, ...routeRows, ...filterRows, ...sizeRows]

const weights = ({ rule, cause }: Row, inputs: Inputs): string[] =>
  dataplaneRules
    .filter(({ name }) => name === rule)
    .flatMap(({ read }) => read(readCase({ inputs })))
    .filter(each => each.cause === cause)
    .flatMap(each => each.for.map(({ weight }) => weight))

describe('P-R3, R-T: why packets do not arrive', () => {
  it.each(rows)('$rule speaks for $cause: $weight', row => {
    expect(weights(row, row.seen)).toContain(row.weight)
  })

  it.each(rows)('$rule does not say so of a look-alike', row => {
    expect(weights(row, row.alike).filter(weight => weight === row.weight || weight === 'proves')).toEqual([])
  })

  it('P-R3: every rule has its row and its source', () => {
    const named = new Set(rows.map(({ rule }) => rule))
    expect(dataplaneRules.filter(({ name, source }) => !named.has(name) || source === '')).toEqual([])
  })

  it.each([
    'route-missing',
    'dataplane-stale',
    'network-filtered',
    'mtu-mismatch',
    'service-no-endpoints',
    'app-not-listening',
  ])('P-P5: %s has advice with an action and a warning, whatever the way', cause => {
    const own = dataplaneAdvice.filter(each => each.cause === cause)
    expect(own.filter(({ way }) => way === undefined)).toHaveLength(1)
    expect(own.filter(({ actions, warnings }) => actions.length === 0 || warnings.length === 0)).toEqual([])
  })

  it('P-P5: every way that a rule names has advice of its own', () => {
    const ways = rows.flatMap(({ rule, seen }) =>
      dataplaneRules
        .filter(({ name }) => name === rule)
        .flatMap(({ read }) => read(readCase({ inputs: seen }))),
    )
    const lost = ways.filter(
      ({ cause, way }) =>
        way !== undefined && !dataplaneAdvice.some(each => each.cause === cause && each.way === way),
    )
    expect(lost.map(({ cause, way }) => `${cause}: ${way ?? ''}`)).toEqual([])
  })

  it('R-T: nothing that changes anything is offered for packets that do not arrive', () => {
    expect(rows.flatMap(({ seen }) => explain(readCase({ inputs: seen })).changes)).toEqual([])
  })

  it('P-R3: two nodes that route each other by the cloud alone lack nothing', () => {
    const table = (n: number): string[] => [
      'default via 10.0.0.1 dev eth0',
      `10.4.${n}.0/24 dev cbr0 proto kernel scope link`,
    ]
    expect(explain(readCase({ inputs: { routes: { a: table(1), b: table(2) } } })).cause).toBe('other')
  })

  it('P-R3: a symptom alone is never more than a guess', () => {
    expect(explain(readCase({ inputs: { symptom: 'large payloads hang, mtu?' } }))).toMatchObject({
      cause: 'mtu-mismatch',
      confidence: 'low',
    })
  })

  it('P-R3: hostile output of any command is read without failing', () => {
    const bad = [
      '\u0000',
      '1: '.repeat(3_000),
      '10.'.repeat(3_000),
      `${'a/'.repeat(3_000)} has no endpoints`,
      'mtu '.repeat(2_000),
      '{"selector":',
      '999.1.2.3/99 dev cni0',
      'default via',
      '|'.repeat(5_000),
    ]
    const asked = [
      'ip route',
      'ip link',
      'ip a',
      'iptables-save',
      'nft list ruleset',
      'ss -ltn',
      'kubectl get svc,endpoints',
      'kubectl get endpoints web',
      'kubectl describe svc web',
      'ping -s 1472 10.0.0.1',
      'conntrack -L',
      'ipvsadm -Ln',
      'curl localhost',
    ]
    const seen = ran(...asked.map((cmd): [string, ...string[]] => [cmd, ...bad]))
    expect(explain(readCase({ inputs: { ...seen, routes: { a: bad }, agent_logs: bad } })).changes).toEqual(
      [],
    )
  })
})
