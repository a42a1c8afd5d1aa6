import { z } from 'zod'
import { checkNames } from '../core/check-names.js'
import { runbookSchema, type StepKind, stepSchema } from '../core/runbook/schema.js'

interface Told {
  does: string
  changes: string
  undo: string
}

const kinds: Record<StepKind, Told> = {
  confirm: {
    does: 'Shows sentences to a person, who ticks them. The prerequisites of a runbook become the first step of this kind.',
    changes: 'nothing',
    undo: 'nothing to undo',
  },
  expect: {
    does: 'Looks, and pauses the run unless the check holds. No answer is not a pass.',
    changes: 'nothing',
    undo: 'nothing to undo',
  },
  cordon: {
    does: 'Keeps new Pods off the node and records who had cordoned it before.',
    changes: 'the node object',
    undo: 'lifts the cordon, if this run set it',
  },
  uncordon: {
    does: 'Lets new Pods onto the node again. Refuses to lift a cordon that is not its own.',
    changes: 'the node object',
    undo: 'cordons again',
  },
  drain: {
    does: 'Evicts the Pods of a cordoned node through the Eviction API, so that every PodDisruptionBudget is respected, and waits until they are gone. The plan lists every Pod with its verdict; DaemonSet and static Pods stay. Refuses before it begins where a Pod cannot be moved by eviction, and on the node that cnibot or its Redis runs on.',
    changes: 'Pods of the node',
    undo: 'impossible: Pods that moved stay where they are',
  },
  'remove-orphans': {
    does: 'Moves address files without a living sandbox into a quarantine on the node, under the lock of the plugin. The plan lists every file with its verdict; what is no longer an orphan is skipped.',
    changes: 'files on the node',
    undo: 'puts back what has not been given out again',
  },
  'test-pod': {
    does: 'Starts a throwaway Pod on the node, sees it get an address of the range, deletes it, and sees exactly that address come back.',
    changes: 'one Pod in one namespace',
    undo: 'deletes the Pod',
  },
}

const fields: Record<string, string> = {
  name: 'the file is called like it, with `.yaml`',
  title: 'what people read on the button',
  risk: 'how much can go wrong',
  answers: 'findings it is offered for',
  forbidden_by: 'findings with which it is never offered',
  prerequisites: 'sentences a person ticks before anything changes',
  steps: 'what is done, in this order',
  verify: 'what must hold afterwards; the run is complete only then',
  watch: 'when to count again, and what must hold then; without it the incident goes back to the diagnosis',
  escalate_to: 'whom to call when it does not work',
  sentences: 'what to tick, at least one',
  check: 'the assertion, see below',
  on: 'where it is checked',
  within: 'how far back to look, at most to the start of the run',
  older_than: 'an address file without a sandbox is left alone until it is that old',
  readings: 'how many readings must agree that the owner is gone',
  delete_emptydir_data:
    'whether Pods with emptyDir volumes may be evicted; their data is lost, and the plan names them',
  evict_unmanaged: 'whether Pods without a controller may be evicted; nothing starts them again',
  deadline: 'how long the whole drain may take',
  pod_deadline: 'how long one Pod may take to end, beyond its own grace period',
  via: '`pinned` names the node and works while it is cordoned; `scheduler` needs it schedulable',
}

/** The page about runbook files, in Markdown, from the schema that reads them. */
export const runbookReference = (): string =>
  [
    '# Runbooks',
    '',
    '<!-- Written by `npm run docs` from src/core/runbook/schema.ts; edits here are lost. -->',
    '',
    'One file is one repair: a straight line of steps without conditions, loops or shell. The diagnosis chooses the runbook;',
    'where a repair would need a branch, it is two runbooks and a person picks a button. An unknown key, check or finding is',
    'an error with its line. Files in the folder that `CNIBOT_RUNBOOKS_DIR` names are read beside these.',
    '',
    'Whether a kind of step changes anything is fixed by its kind. A step that changes something waits until a person has',
    'approved its plan, and does at most what that plan says.',
    '',
    '## The file',
    '',
    ...table(runbookSchema, {}),
    '',
    'Durations are `30s`, `15m`, `24h` or `7d`.',
    '',
    '## Kinds of step',
    ...stepSchema.options.flatMap(option => {
      const kind = option.shape.kind.value
      const { does, changes, undo } = kinds[kind]
      const rows = table(option, { kind, check: checkNames[0], sentences: ['…'] })
      const told = ['', `### ${kind}`, '', does, '', `Changes: ${changes}. Undo: ${undo}.`]
      return rows.length > 2 ? [...told, '', ...rows] : told
    }),
    '',
    '## Checks',
    '',
    ...checkNames.map(name => `- \`${name}\``),
    '',
  ].join('\n')

/** One row a field; `sample` is a smallest valid value, from which defaults are read. */
const table = (schema: z.ZodType, sample: Record<string, unknown>): string[] => {
  const { properties = {}, required = [] } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' })
  const known = Object.fromEntries(Object.entries(sample).filter(([name]) => name in properties))
  const parsed = schema.safeParse(known)
  const rows = Object.entries(properties)
    .filter(([name]) => name !== 'kind')
    .map(([name, property]) => {
      const json = typeof property === 'object' ? property : {}
      const value = json.default ?? (parsed.success ? Reflect.get(Object(parsed.data), name) : undefined)
      const need = required.includes(name)
        ? 'required'
        : value === undefined
          ? ''
          : `\`${shown(json, value)}\``
      return `| \`${name}\` | ${typeOf(json)} | ${need} | ${fields[name] ?? ''} |`
    })
  return ['| Field | Value | Default | Means |', '|---|---|---|---|', ...rows]
}

type Json = z.core.JSONSchema.JSONSchema

const typeOf = (json: Json): string => {
  if (json.enum && json.enum.length < 8) return json.enum.map(value => `\`${String(value)}\``).join(', ')
  if (json.type === 'boolean') return '`true`, `false`'
  if (json.const !== undefined) return `\`${String(json.const)}\``
  if (json.pattern?.includes('ms|s|m|h|d')) return 'duration'
  if (json.type === 'array') return 'list'
  return json.type === 'object' ? 'mapping' : 'text'
}

/** Milliseconds as they are written in a file. */
const shown = (json: Json, value: unknown): string => {
  if (typeOf(json) !== 'duration' || typeof value !== 'number') {
    return typeof value === 'string' ? value : JSON.stringify(value)
  }
  const units = [
    ['d', 86_400_000],
    ['h', 3_600_000],
    ['m', 60_000],
    ['s', 1_000],
  ] as const
  const [unit, ms] = units.find(([, size]) => value % size === 0) ?? ['ms', 1]
  return `${value / ms}${unit}`
}
