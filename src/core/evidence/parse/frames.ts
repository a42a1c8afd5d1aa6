/** One section of the probe's answer. */
export interface Section {
  /** The node's clock when the section was asked, in milliseconds. */
  at: number
  /** Exactly what was printed. */
  body: string
  code: number
  /** Last line of what it said on stderr, without control characters. */
  said: string
}

export interface Frames {
  /** Sections that arrived whole; one that was cut is not here. */
  sections: Map<string, Section>
  /** False when the end mark is missing: the answer was cut. */
  ended: boolean
  /** More than a node can have to say: the rest was not read. */
  overlong: boolean
}

/** A store of 65,000 files takes 130,000 lines, and the probe has 13 sections. */
const most = { lines: 300_000, sections: 64 }

/** Seconds with a fraction, as `date +%s.%N` prints them; a date without `%N` leaves the letter behind. */
export const readSeconds = (text: string | undefined): number | undefined => {
  const match = /^@?(\d{1,12}(?:\.\d+)?)/.exec(text ?? '')
  return match === null ? undefined : Math.round(Number(match[1]) * 1000)
}

/**
 * Reads `>name time`, body lines behind one blank, `=code said`, and `>end`. Whatever stands between frames is ignored,
 * so a login banner does no harm.
 */
export const readFrames = (stdout: string): Frames => {
  const sections = new Map<string, Section>()
  let open: { name: string; at: number; lines: string[] } | undefined
  let ended = false
  let lines = 0
  for (let from = 0; from <= stdout.length; ) {
    const end = stdout.indexOf('\n', from)
    const line = stdout.slice(from, end < 0 ? stdout.length : end)
    from += line.length + 1
    lines += 1
    if (lines > most.lines || sections.size > most.sections) return { sections, ended: false, overlong: true }
    if (line.startsWith(' ')) {
      open?.lines.push(line.slice(1))
    } else if (line.startsWith('>')) {
      const [name = '', time] = line.slice(1).split(' ')
      if (name === 'end') ended = true
      open = { name, at: readSeconds(time) ?? 0, lines: [] }
    } else if (line.startsWith('=') && open !== undefined) {
      const [, code = '', said = ''] = /^=(\d{1,5}) ?(.*)$/.exec(line) ?? []
      if (code !== '' && !sections.has(open.name)) {
        sections.set(open.name, { at: open.at, body: open.lines.join('\n'), code: Number(code), said })
      }
      open = undefined
    }
  }
  return { sections, ended, overlong: false }
}
