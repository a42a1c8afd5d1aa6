import type { z } from 'zod'

type Issue = z.core.$ZodIssue

/** Turns what zod found into the lines Slack puts into `response_metadata.messages`. */
export function problemsOf(error: z.ZodError, under: string): string[] {
  return error.issues.flatMap(issue => lines(issue, under))
}

function lines(issue: Issue, under: string): string[] {
  const pointer = [under, ...issue.path].join('/')
  return [`[ERROR] ${sentence(issue)} [json-pointer:${pointer}]`]
}

function sentence(issue: Issue): string {
  if (issue.code === 'too_big') {
    return issue.origin === 'string'
      ? `must be less than ${Number(issue.maximum) + 1} characters`
      : `no more than ${issue.maximum} items allowed`
  }
  if (issue.code === 'too_small') {
    return issue.origin === 'string'
      ? `must be more than ${Number(issue.minimum) - 1} characters`
      : `no fewer than ${issue.minimum} items allowed`
  }
  if (issue.code === 'invalid_union') return 'unsupported type'
  if (issue.code === 'invalid_type' && issue.message.endsWith('received undefined')) {
    return `missing required field: ${String(issue.path.at(-1) ?? 'blocks')}`
  }
  if (issue.code === 'invalid_type') return `must provide a valid ${issue.expected}`
  return issue.code === 'custom' ? issue.message : 'invalid value'
}
