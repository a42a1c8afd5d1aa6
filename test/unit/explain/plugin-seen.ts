import { pluginRules } from '../../../src/core/explain/rules/plugin.js'
import { readCase } from '../../../src/core/report/read-case.js'

export type Inputs = Record<string, unknown>

/** One row: a rule, what is seen, and what the rule makes of it. */
export type Row = [rule: string, what: string, inputs: Inputs, expected: string[], environment?: Inputs]

/** What the rule says, as `cause weight weight`; `-cause weight` for what speaks against. */
const saidBy = (name: string, inputs: Inputs, environment: Inputs): string[] => {
  const rule = pluginRules.find(each => each.name === name)
  if (rule === undefined) throw new Error(`there is no rule ${name}`)
  return rule
    .read(readCase({ inputs, environment }))
    .flatMap(({ cause, for: pro, against = [] }) => [
      ...(pro.length > 0 ? [[cause, ...pro.map(({ weight }) => weight)].join(' ')] : []),
      ...against.map(({ weight }) => `-${cause} ${weight}`),
    ])
}

/** A test a row, and one that every rule has a row. */
export const eachRow = (rules: readonly { name: string }[], rows: readonly Row[]): void => {
  it.each(
    rows.map(([rule, what, inputs, expected, environment = {}]) => ({
      rule,
      what,
      inputs,
      expected,
      environment,
    })),
  )('$rule: $what', ({ rule, inputs, expected, environment }) => {
    expect(saidBy(rule, inputs, environment)).toEqual(expected)
  })

  it('has a row for every rule', () => {
    expect(rules.filter(({ name }) => !rows.some(([rule]) => rule === name))).toEqual([])
  })
}

export const setup = 'failed to setup network for sandbox "5f"'
export const event = (message: string, more: Inputs = {}): Inputs => ({
  events: [{ type: 'Warning', reason: 'FailedCreatePodSandBox', object: 'pod/web-0', message, ...more }],
})
export const journal = (line: string, unit = 'kubelet'): Inputs => ({ journal: [{ unit, line }] })
export const ran = (cmd: string, ...output: string[]): Inputs => ({ commands: [{ cmd, output }] })
export const agent = (status: string): Inputs => ({
  pods: [`kube-system cilium-9tq4x 0/1 ${status} 4 40m 10.1.0.4 n1`],
})
export const noSocket = event(
  `${setup}: plugin type="cilium-cni" failed (add): unable to connect to Cilium agent: dial unix /var/run/cilium/cilium.sock: connect: no such file or directory`,
)
export const uninitialized: Inputs = {
  node: { name: 'n1', ready_message: 'Network plugin returns error: cni plugin not initialized' },
}
export const unauthorized = `${setup}: plugin type="calico" failed (add): error getting ClusterInformation: connection is unauthorized: Unauthorized`
export const foreignAuthority = `${setup}: plugin type="calico" failed (add): error getting ClusterInformation: Get "https://10.96.0.1": x509: certificate signed by unknown authority`
