import { type Code, theCode } from './code.js'
import { coreChecks } from './core-checks.js'
import { checkOnNode, nodeChecks } from './node-checks.js'
import { rules } from './rules.js'

let code: Code
beforeAll(async () => {
  code = await theCode()
})

for (const [rule, title] of rules)
  test(title, async () => {
    expect(coreChecks[rule] ?? nodeChecks[rule]).toBeDefined()
    coreChecks[rule]?.(code)
    await checkOnNode(rule, code)
  })
