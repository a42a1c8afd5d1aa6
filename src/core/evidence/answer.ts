/** A question that got no answer is never zero (law 5). Times are milliseconds since 1970. */
export type Answer<T> = Known<T> | Unknown
export interface Known<T> {
  at: number
  value: T
}
export interface Unknown {
  at: number
  /** One line: what was asked, what came back, what to do. */
  reason: string
}

export const known = <T>(value: T, at: number): Known<T> => ({ at, value })
export const unknown = (reason: string, at: number): Unknown => ({ at, reason })
export const isKnown = <T>(answer: Answer<T>): answer is Known<T> => 'value' in answer
/** The value, or undefined where there is none; for wording only, never for deciding a removal. */
export const valueIn = <T>(answer: Answer<T>): T | undefined => (isKnown(answer) ? answer.value : undefined)
export const reasonOf = <T>(answer: Answer<T>): string | undefined =>
  isKnown(answer) ? undefined : answer.reason
