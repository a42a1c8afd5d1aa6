/** FNV-1 (not 1a) with 32 bits, as the controllers hash a Pod template. */
const fnv32 = (text: string): number => {
  let hash = 0x811c9dc5
  for (const byte of Buffer.from(text)) hash = Math.imul(hash, 0x01000193) ^ byte
  return hash >>> 0
}

const letters = 'bcdfghjklmnpqrstvwxz2456789'

/**
 * A hash that looks like `pod-template-hash` and `controller-revision-hash`. The real one hashes Go's print of the
 * struct, so the value differs; equal templates give equal hashes all the same.
 */
export const templateHash = (template: object): string => {
  const known = hashes.get(template)
  if (known !== undefined) return known
  const digits = String(fnv32(canonical(template)))
  const hash = Array.from(digits, digit => letters[digit.charCodeAt(0) % letters.length]).join('')
  hashes.set(template, hash)
  return hash
}

/** Stored objects never change, so their hash holds as long as they live. */
const hashes = new WeakMap<object, string>()

/** JSON with sorted keys. */
const canonical = (value: unknown): string =>
  JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  )
