/** Seeded: the same seed gives the same garbage. (mulberry32) */
export const randomOf = (seed: number): (() => number) => {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = Math.imul(state ^ (state >>> 15), state | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }
}

const exhausted =
  'plugin type="bridge" failed (add): failed to allocate for range 0: no IP addresses available in range set: 10.244.7.1-10.244.7.254'

const texts = [
  '',
  ' ',
  '\u0000\u001b[2J\u0007',
  '\u202edrowssap\u2066',
  '😀'.repeat(40),
  '\ud800',
  '__proto__',
  'constructor',
  '<!channel> *x* `y` &amp;',
  '10.244.7.9',
  '10.244.7.0/24',
  '0.0.0.0/0',
  'fd00::/1',
  '::ffff:10.0.0.1',
  '010.244.7.1',
  `${'9'.repeat(400)}`,
  '"'.repeat(300),
  '\\"'.repeat(300),
  '('.repeat(500),
  'a '.repeat(800),
  exhausted,
  `${exhausted}\n${exhausted}`,
  'failed to find plugin "portmap" in path [/opt/cni/bin]',
  'f'.repeat(64),
  '0'.repeat(64),
  '-1',
  '1e999',
  'NaN',
  'true',
  'notready',
]
const numbers = [
  0,
  -0,
  -1,
  1,
  0.5,
  253,
  254,
  1e9,
  1e12,
  2 ** 53,
  2 ** 63,
  1e308,
  -1e308,
  8.64e15,
  8.64e15 + 1,
]
const hostileKeys = [
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  'value',
  'at',
  'reason',
  '',
  'then',
]

type Random = () => number
const pick = <T>(random: Random, from: readonly T[]): T | undefined =>
  from[Math.floor(random() * from.length)]
const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** An own key of that name, as JSON.parse makes it: never the prototype. */
const put = (target: Record<string, unknown>, key: string, value: unknown): void => {
  Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true })
}

const garbageObject = (random: Random, depth: number): Record<string, unknown> => {
  const made: Record<string, unknown> = {}
  for (let n = Math.floor(random() * 4); n >= 0; n -= 1)
    put(made, pick(random, hostileKeys) ?? '', garbage(random, depth + 1))
  return made
}

/** Any JSON value, most of them wrong wherever they stand. */
export const garbage = (random: Random, depth = 0): unknown => {
  const kind = Math.floor(random() * (depth > 3 ? 4 : 8))
  if (kind === 0) return null
  if (kind === 1) return random() < 0.5
  if (kind === 2) return pick(random, numbers)
  if (kind <= 4) return pick(random, texts)
  if (kind === 5) return Array.from({ length: Math.floor(random() * 5) }, () => garbage(random, depth + 1))
  if (kind === 6) return { at: 1, value: garbage(random, depth + 1) }
  return garbageObject(random, depth)
}

/** Of the same type and so harder to notice: it passes the shapes and changes what is said. */
const likely = (random: Random, old: unknown): unknown => {
  if (typeof old === 'string') return pick(random, texts)
  if (typeof old === 'number')
    return random() < 0.5 ? pick(random, numbers) : old + Math.round(random() * 40 - 20)
  if (typeof old === 'boolean') return !old
  if (Array.isArray(old)) return random() < 0.5 ? [] : [...(old as unknown[]), ...(old as unknown[])]
  return garbage(random)
}

const keysOf = (value: object): string[] => Object.keys(value)

/** Changes one place of a JSON value, in place: gone, garbage, of the same type, or what stands elsewhere in `other`. */
export const mutate = (
  random: Random,
  root: Record<string, unknown>,
  other: Record<string, unknown>,
): void => {
  let here: object = root
  let key = pick(random, keysOf(root))
  for (;;) {
    const next: unknown = key === undefined ? undefined : Reflect.get(here, key)
    if (typeof next !== 'object' || next === null || keysOf(next).length === 0 || random() < 0.2) break
    here = next
    key = pick(random, keysOf(next))
  }
  if (key === undefined) return
  const how = random()
  if (how < 0.15) Reflect.deleteProperty(here, key)
  else if (how < 0.4) Reflect.set(here, key, garbage(random))
  else if (how < 0.85) Reflect.set(here, key, likely(random, Reflect.get(here, key)))
  else if (isObject(here)) put(here, pick(random, hostileKeys) ?? '', garbage(random))
  if (random() < 0.1) {
    const section = pick(random, keysOf(other))
    if (section !== undefined) put(root, section, other[section])
  }
}
