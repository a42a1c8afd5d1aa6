/** Edits to turn one word into the other: inserted, left out, changed. */
const distance = (a: string, b: string): number => {
  let above = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (let i = 1; i <= a.length; i++) {
    const here = [i]
    for (let j = 1; j <= b.length; j++)
      here.push(
        Math.min(
          (above[j] ?? 0) + 1,
          (here[j - 1] ?? 0) + 1,
          (above[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1),
        ),
      )
    above = here
  }
  return above[b.length] ?? 0
}

/** `node-7` and `node-07` are the same to a person: leading zeros of a number say nothing. */
const plainNumbers = (name: string): string =>
  name.toLowerCase().replace(/\d+/g, digits => String(Number(digits)))

/** The name that was probably meant; undefined where nothing is near. */
export const nearest = (asked: string, names: readonly string[]): string | undefined => {
  const wanted = plainNumbers(asked)
  const ranked = names
    .map(name => ({ name, edits: distance(wanted, plainNumbers(name)) }))
    .toSorted((a, b) => a.edits - b.edits)
  const best = ranked[0]
  return best && best.edits <= Math.max(1, Math.floor(asked.length / 3)) ? best.name : undefined
}
