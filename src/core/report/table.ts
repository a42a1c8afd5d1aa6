/**
 * What kubectl and like programs print under a header: one record a row, keys as the header spells them in capitals
 * without blanks (`ALLOWED DISRUPTIONS` → `ALLOWED DISRUPTIONS`). Columns are cut where the header's words begin, as far
 * as two blanks part them; a row that does not fit is cut at its blanks instead.
 */
export const readTable = (lines: readonly string[]): Record<string, string>[] => {
  const start = lines.findIndex(line => /^[A-Z][A-Z0-9 ()/%-]{1,}(?:\s{2,}|$)/.test(line.trimStart()))
  const header = lines[start]
  if (header === undefined) return []
  const columns = [...header.matchAll(/\S+(?: \S+)*/g)].map(match => ({
    name: match[0].trim().toUpperCase(),
    at: match.index,
  }))
  return lines
    .slice(start + 1, start + 2_000)
    .filter(line => line.trim() !== '')
    .map(line => readRow(line.slice(0, 4_000), columns))
}

const readRow = (line: string, columns: readonly { name: string; at: number }[]): Record<string, string> => {
  const fits = columns.every(({ at }) => at === 0 || /\s/.test(line[at - 1] ?? ' '))
  const words = line.trim().split(/\s{2,}|\t/)
  const loose = words.length >= columns.length ? words : line.trim().split(/\s+/)
  return Object.fromEntries(
    columns.map(({ name, at }, n) => [
      name,
      (fits ? line.slice(at, columns[n + 1]?.at) : (loose[n] ?? '')).trim(),
    ]),
  )
}
