import { indent, oneLine, type Text, t } from './text.js'

// The card is read on a phone: ids in full are in the attached list.
const shortIds = (row: string): string => row.replace(/\b([0-9a-f]{13})[0-9a-f]{51}\b/g, '$1…')

/** The first rows of a list whose whole is attached, and how many more there are. */
export const firstRows = (rows: readonly string[], most: number): Text[] => {
  const more = rows.length - most
  return [
    ...rows.slice(0, most).map(row => t`${indent}${shortIds(oneLine(row))}`),
    ...(more > 0 ? [t`${indent}… ${more} more, attached in full`] : []),
  ]
}
