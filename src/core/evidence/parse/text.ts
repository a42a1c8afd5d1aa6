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
  const clean = text.replace(sequences, '').replace(invisible, ' ').trim()
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
