// oxlint-disable no-control-regex
const escapes = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[@-Z\\-_])/g
const controls = /[\u0000-\u0008\u000a-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g

/** Text of a node as it may be shown: one line, no escapes, no control or direction characters. */
export const plain = (text: string, most = 600): string => {
  const clean = text.replace(escapes, '').replace(controls, ' ').trim()
  return clean.length > most ? `${clean.slice(0, most)}…` : clean
}

/** Parsed, or undefined where the text is no JSON. */
export const readJson = (text: string): unknown => {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}
