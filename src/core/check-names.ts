/** The closed list of named assertions a runbook may use; `core/check.ts` holds what each asserts. */
export const checkNames = [
  'allocations-match-sandboxes',
  'no-new-del-failures',
  'rollouts-complete',
  'no-sandbox-failures',
  'node-drained',
] as const
export type CheckName = (typeof checkNames)[number]
