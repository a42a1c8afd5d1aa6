import { createHash } from 'node:crypto'
import { isNode, LineCounter, parseDocument } from 'yaml'
import type { z } from 'zod'
import { type Runbook, runbookSchema, stepSchema } from '../../core/runbook/schema.js'

export type ReadRunbook = { runbook: Runbook } | { problems: string[] }

/** A runbook from its text, or everything that is wrong with it, each as `file:line: what; what to write instead`. */
export const readRunbook = (file: string, text: string): ReadRunbook => {
  const lines = new LineCounter()
  // Core schema, no anchors that could grow without end.
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false })
  const at = (offset: number | undefined) => `${file}:${lines.linePos(offset ?? 0).line || 1}`
  if (document.errors.length > 0) {
    return {
      problems: document.errors.map(error => `${at(error.pos[0])}: not YAML: ${firstLine(error.message)}`),
    }
  }
  let value: unknown
  try {
    value = document.toJS({ maxAliasCount: 0 })
  } catch {
    return { problems: [`${file}:1: aliases (*name) are not allowed; write the value where it is needed`] }
  }
  const read = runbookSchema.safeParse(value)
  if (read.success) {
    return { runbook: { ...read.data, digest: createHash('sha256').update(text).digest('hex') } }
  }
  const problems = read.error.issues.map(issue => {
    const offset = offsetOf(document, [...issue.path, ...unknownKey(issue)])
    return `${at(offset)}: ${[placeOf(issue.path), wrongWith(issue, value)].filter(Boolean).join(' ')}`
  })
  return { problems: [...new Set(problems)] }
}

const firstLine = (text: string): string => text.split('\n', 1)[0] ?? text

const unknownKey = (issue: z.core.$ZodIssue): string[] =>
  issue.code === 'unrecognized_keys' ? issue.keys.slice(0, 1) : []

/** Where the value at `path` begins, or the nearest thing around it that exists. */
const offsetOf = (document: ReturnType<typeof parseDocument>, path: PropertyKey[]): number | undefined => {
  for (let length = path.length; length > 0; length--) {
    const node = document.getIn(path.slice(0, length), true)
    if (isNode(node) && node.range) return node.range[0]
  }
  return document.contents?.range?.[0]
}

/** `steps 3.older_than:`, counted from one as people do. */
const placeOf = (path: PropertyKey[]): string => {
  const shown = path
    .map(part => (typeof part === 'number' ? ` ${part + 1}` : `.${String(part)}`))
    .join('')
    .replace(/^\./, '')
  return shown === '' ? '' : `${shown}:`
}

const valueAt = (value: unknown, path: PropertyKey[]): unknown =>
  path.reduce<unknown>(
    (inside, part) => (typeof inside === 'object' && inside !== null ? Reflect.get(inside, part) : undefined),
    value,
  )

const wrongWith = (issue: z.core.$ZodIssue, whole: unknown): string => {
  const found = valueAt(whole, issue.path)
  const shown = JSON.stringify(found)
  if (issue.code === 'unrecognized_keys') {
    return `${issue.keys.map(key => JSON.stringify(key)).join(', ')} is not known here; remove it or correct its name`
  }
  if (issue.code === 'invalid_value') return notAmong(shown, issue.values.map(String))
  if (issue.code === 'invalid_union') return notAmong(shown, stepKinds)
  if (issue.code === 'invalid_type') {
    const expected = inYaml[issue.expected] ?? issue.expected
    return shown === undefined ? `is missing; write a ${expected}` : `${shown} must be a ${expected}`
  }
  if (issue.code === 'invalid_format') return `${shown} must be ${formOf(issue)}`
  return `${shown}: ${issue.message}`
}

/** Types as people who write YAML call them. */
const inYaml: Record<string, string> = { array: 'list', object: 'mapping', string: 'text' }

const notAmong = (shown: string | undefined, values: string[]): string =>
  `${shown === undefined ? 'is missing' : `${shown} is not possible`}; write one of ${values.join(', ')}`

const stepKinds = stepSchema.options.map(option => option.shape.kind.value)

/** A schema's own message where it has one, else the pattern itself. */
const formOf = (issue: z.core.$ZodIssueInvalidStringFormat): string =>
  issue.message.startsWith('a ') ? issue.message : `of the form ${issue.pattern ?? issue.format}`
