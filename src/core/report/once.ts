/** Many rules ask the same of one report or bundle: it is read once. Right since neither is ever changed. */
export const once = <K extends object, T>(read: (from: K) => T): ((from: K) => T) => {
  const known = new WeakMap<K, { value: T }>()
  return from => {
    const found = known.get(from) ?? { value: read(from) }
    known.set(from, found)
    return found.value
  }
}
