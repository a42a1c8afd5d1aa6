import type { Fields } from '../types.js'

// Blocks come as JSON that the server has checked: these read it without believing it.

export const fieldsOf = (value: unknown): Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {}

export const listOf = (value: unknown): Fields[] => (Array.isArray(value) ? value.map(fieldsOf) : [])

export const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : typeof value === 'number' ? String(value) : ''

/** The words of a text object. */
export const wordsOf = (value: unknown): string => textOf(fieldsOf(value).text)
