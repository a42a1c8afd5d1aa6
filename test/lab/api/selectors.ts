import type { KubeObject } from '../store.js'
import type { LabelSelector, NodeSelectorTerm, SelectorTerm } from './shapes.js'
import { badRequest } from './status.js'

type Labels = Record<string, string>

/** One requirement of a label selector: set based, since `a=b` is `a in (b)`. */
const holds = (term: SelectorTerm, labels: Labels): boolean => {
  const value = labels[term.key]
  const values = term.values ?? []
  switch (term.operator) {
    case 'In':
      return value !== undefined && values.includes(value)
    case 'NotIn':
      return value === undefined || !values.includes(value)
    case 'Exists':
      return value !== undefined
    case 'DoesNotExist':
      return value === undefined
    case 'Gt':
      return value !== undefined && Number(value) > Number(values[0])
    case 'Lt':
      return value !== undefined && Number(value) < Number(values[0])
    default:
      return false
  }
}

/** An absent selector selects nothing, an empty one everything. */
export const selects = (selector: LabelSelector | undefined, labels: Labels | undefined): boolean => {
  if (selector === undefined) return false
  const exact = Object.entries(selector.matchLabels ?? {}).every(([key, value]) => labels?.[key] === value)
  return exact && (selector.matchExpressions ?? []).every(term => holds(term, labels ?? {}))
}

/** Whether a node fits one term of a node selector; `matchFields` knows only metadata.name, as in Kubernetes. */
export const fitsNodeTerm = (term: NodeSelectorTerm, node: KubeObject): boolean => {
  const expressions = term.matchExpressions ?? []
  const fields = term.matchFields ?? []
  if (expressions.length + fields.length === 0) return false
  return (
    expressions.every(each => holds(each, node.metadata.labels ?? {})) &&
    fields.every(each => holds(each, { 'metadata.name': node.metadata.name }))
  )
}

const setBased = /^([^\s!=<>(),]+)\s+(in|notin)\s+\(([^()]*)\)$/
const compared = /^([^\s!=<>(),]+)\s*(==|=|!=|>|<)\s*([^\s!=<>(),]*)$/
const bare = /^(!?)\s*([^\s!=<>(),]+)$/

/**
 * Reads `labelSelector` of a query, equality and set based.
 * @throws ApiError 400 for anything else.
 */
export const parseLabelSelector = (text: string): ((object: KubeObject) => boolean) => {
  const terms = splitOutsideBrackets(text).map(parseTerm)
  return object => terms.every(term => holds(term, object.metadata.labels ?? {}))
}

const parseTerm = (part: string): SelectorTerm => {
  const set = setBased.exec(part)
  if (set !== null)
    return {
      key: set[1] ?? '',
      operator: set[2] === 'in' ? 'In' : 'NotIn',
      values: (set[3] ?? '').split(',').map(value => value.trim()),
    }
  const operators: Record<string, string> = { '=': 'In', '==': 'In', '!=': 'NotIn', '>': 'Gt', '<': 'Lt' }
  const pair = compared.exec(part)
  if (pair !== null)
    return { key: pair[1] ?? '', operator: operators[pair[2] ?? ''] ?? '', values: [pair[3] ?? ''] }
  const name = bare.exec(part)
  if (name !== null) return { key: name[2] ?? '', operator: name[1] === '!' ? 'DoesNotExist' : 'Exists' }
  throw badRequest(`unable to parse requirement: found '${part}', expected: a label requirement`)
}

const splitOutsideBrackets = (text: string): string[] =>
  text
    .split(/,(?![^()]*\))/)
    .map(part => part.trim())
    .filter(part => part !== '')

export interface FieldTerm {
  field: string
  equal: boolean
  value: string
}

/** @throws ApiError 400 when a part has no operator. Backslash escapes `,`, `=` and itself. */
export const parseFieldSelector = (text: string): FieldTerm[] =>
  (text.match(/(?:\\.|[^,\\])+/g) ?? []).map(part => {
    const found = /^((?:\\.|[^=!\\])*)(!=|==|=)(.*)$/s.exec(part)
    if (found === null) throw badRequest(`invalid field selector: "${part}"; can't understand it`)
    return {
      field: (found[1] ?? '').trim(),
      equal: found[2] !== '!=',
      value: (found[3] ?? '').replace(/\\(.)/gs, '$1'),
    }
  })
