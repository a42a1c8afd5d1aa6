import type { z } from 'zod'

const esc = String.fromCharCode(27)
const bell = String.fromCharCode(7)
/** Terminal sequences: colours and cursor (CSI), titles and links (OSC), and the two-character ones. */
const sequences = new RegExp(
  `${esc}(?:\\[[0-?]*[ -/]*[@-~]|\\][^${bell}${esc}]*(?:${bell}|${esc}\\\\)|[@-Z\\\\-_])`,
  'g',
)
const invisible = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu

/** Text of a node as it may be shown: one line, no escapes, no control or direction characters. */
export const plain = (text: string, most = 600): string => {
  // What is cut anyway is not cleaned first: it may be megabytes.
  const clean = text
    .slice(0, most * 8)
    .replace(sequences, '')
    .replace(invisible, ' ')
    .trim()
  return clean.length > most ? `${clean.slice(0, most)}…` : clean
}

/** Far above what 1,000 sandboxes or namespaces need; parsed, more of it could fill the memory of the worker. */
const mostJson = { letters: 8 * 1024 * 1024, values: 400_000, depth: 64 }

/** Whether this is small and flat enough to be parsed: counted on the text, before anything is made of it. */
const isModest = (text: string): boolean => {
  if (text.length > mostJson.letters) return false
  let depth = 0
  let values = 0
  let quoted = false
  for (let at = 0; at < text.length; at += 1) {
    const letter = text.charCodeAt(at)
    if (quoted) {
      if (letter === 0x5c) at += 1
      else if (letter === 0x22) quoted = false
    } else if (letter === 0x22) quoted = true
    else if (letter === 0x7b || letter === 0x5b) {
      depth += 1
      values += 1
      if (depth > mostJson.depth) return false
    } else if (letter === 0x7d || letter === 0x5d) depth -= 1
    else if (letter === 0x2c) values += 1
  }
  return values <= mostJson.values
}

/** Parsed, or undefined where the text is no JSON, or more of it than any answer here can be. */
export const readJson = (text: string): unknown => {
  if (!isModest(text)) return undefined
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

/** Every element as the schema wants it; undefined at the first that is not: a thousand reasons would be no better. */
export const readList = <S extends z.ZodType>(schema: S, json: unknown): z.output<S>[] | undefined => {
  if (!Array.isArray(json)) return undefined
  const list: z.output<S>[] = []
  for (const each of json as unknown[]) {
    const read = schema.safeParse(each)
    if (!read.success) return undefined
    list.push(read.data)
  }
  return list
}
