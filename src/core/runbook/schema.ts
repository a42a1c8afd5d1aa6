import { z } from 'zod'
import { checkNames } from '../check-names.js'
import { findingNames } from '../diagnosis/finding.js'
import { duration } from '../duration.js'

const finding = z.enum(findingNames)
const check = z.enum(checkNames)

/** One line of a runbook. Whether a kind changes anything is a property of the kind, never of the file. */
export const stepSchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('confirm'), sentences: z.array(z.string().min(1)).min(1) }),
  z.strictObject({
    kind: z.literal('expect'),
    check,
    on: z.enum(['node', 'every-node']).default('node'),
    within: duration.optional(),
  }),
  z.strictObject({ kind: z.literal('cordon') }),
  z.strictObject({ kind: z.literal('uncordon') }),
  z.strictObject({
    kind: z.literal('drain'),
    delete_emptydir_data: z.boolean().default(false),
    evict_unmanaged: z.boolean().default(false),
    deadline: duration.default(60 * 60_000),
    pod_deadline: duration.default(5 * 60_000),
  }),
  z.strictObject({
    kind: z.literal('remove-orphans'),
    older_than: duration.default(15 * 60_000),
    readings: z.literal(2).default(2),
  }),
  z.strictObject({ kind: z.literal('test-pod'), via: z.enum(['pinned', 'scheduler']).default('pinned') }),
])
export type StepSpec = z.output<typeof stepSchema>
export type StepKind = StepSpec['kind']

export const runbookSchema = z.strictObject({
  name: z.string().regex(/^[a-z][a-z0-9-]*$/),
  title: z.string().min(1).max(140),
  risk: z.enum(['low', 'medium', 'high']),
  answers: z.array(finding),
  forbidden_by: z.array(finding).default([]),
  /** A person ticks these before anything changes. */
  prerequisites: z.array(z.string().min(1)).default([]),
  steps: z.array(stepSchema).min(1),
  verify: z.array(stepSchema).default([]),
  /** The re-count; a runbook without one proves nothing and leads back to the diagnosis. */
  watch: z.strictObject({ after: duration, checks: z.array(check).min(1) }).optional(),
  escalate_to: z.string().min(1).default('platform'),
})
export type RunbookFile = z.output<typeof runbookSchema>

/** A parsed file with the digest of its text, so that a run says which text it followed. */
export interface Runbook extends RunbookFile {
  digest: string
}

/** Every line a run walks, in order: the prerequisites as a confirm step, the steps, the verification. */
export const linesOf = (runbook: RunbookFile): StepSpec[] => [
  ...(runbook.prerequisites.length > 0
    ? [{ kind: 'confirm' as const, sentences: runbook.prerequisites }]
    : []),
  ...runbook.steps,
  ...runbook.verify,
]
