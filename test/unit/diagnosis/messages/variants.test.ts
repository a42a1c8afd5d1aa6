import { readCniMessage } from '../../../../src/core/diagnosis/cni-message.js'
import { causesOf, type KnownMessage, knownMessages } from './known.js'
import {
  ipv6,
  otherAddresses,
  otherNames,
  otherPlaces,
  seeded,
  skipping,
  wrappedBySync,
  wrappings,
} from './mutate.js'

/** A header that promises lines after it is one only at the end of a text. */
const bodies = knownMessages.filter(({ code }) => code !== 'MULTILINE_HEADER')
const failures = bodies.filter(({ failure }) => failure !== 'other')

interface Variant {
  message: KnownMessage
  how: string
  text: string
}

const renamed = ({ sample }: KnownMessage, random: () => number): string =>
  otherPlaces(otherAddresses(otherNames(sample, random), random), random)

const verdict = (text: string) => {
  const { code, causes } = readCniMessage(text)
  return { code, causes }
}

const wrong = (variants: readonly Variant[]) =>
  variants
    .map(({ message, how, text }) => ({ id: message.id, how, got: verdict(text), want: message, text }))
    .filter(
      ({ got, want }) =>
        got.code !== want.code || JSON.stringify(got.causes) !== JSON.stringify(causesOf(want)),
    )
    .map(
      ({ id, how, got, text }) =>
        `${id} ${how}: ${got.code} ${got.causes.join(' ')} <- ${text.slice(0, 300)}`,
    )

describe('P-E1: the same trouble in other words around it', () => {
  const random = seeded(20_261_201)

  test.each(Object.entries(wrappings))('as %s', (how, wrap) => {
    const variants = bodies.map(message => ({ message, how, text: wrap(renamed(message, random), random) }))
    expect(variants.length).toBeGreaterThan(100)
    expect(wrong(variants)).toEqual([])
  })

  test('two wrappings, one around the other', () => {
    const kinds = Object.entries(wrappings)
    const variants = bodies.flatMap(message =>
      [1, 2, 3].map(() => {
        const [[one, inside], [two, outside]] = [0, 1].map(
          () => kinds[Math.floor(random() * kinds.length)] ?? ['CRLF', (text: string) => text],
        ) as [[string, (typeof kinds)[0][1]], [string, (typeof kinds)[0][1]]]
        const text = outside(inside(renamed(message, random), random), random)
        return { message, how: `${one} in ${two}`, text }
      }),
    )
    expect(variants.length).toBeGreaterThan(300)
    expect(wrong(variants)).toEqual([])
  })

  test("in the kubelet's Error syncing pod, with what failed named there", () => {
    const variants = failures.map(message => ({
      message,
      how: 'Error syncing pod',
      text: wrappedBySync(renamed(message, random), message.failure === 'add-failure' ? 'add' : 'del'),
    }))
    expect(variants.length).toBeGreaterThan(80)
    expect(wrong(variants)).toEqual([])
  })

  test('with "; Skipping pod" behind', () => {
    const variants = bodies.map(message => ({
      message,
      how: 'skipping',
      text: skipping(message.sample, random),
    }))
    expect(wrong(variants)).toEqual([])
  })

  test('cut off behind the words that decide', () => {
    const variants = bodies.flatMap(message => {
      const { matched = '' } = readCniMessage(message.sample)
      const end = message.sample.lastIndexOf(matched) + matched.length
      const at = message.sample.includes(matched) ? end : message.sample.length
      return [0, 1, 5].map(more => ({
        message,
        how: `cut +${more}`,
        text: message.sample.slice(0, at + more),
      }))
    })
    expect(wrong(variants)).toEqual([])
  })

  test('IPv6 ranges are read as they are printed', () => {
    const exhausted = knownMessages.filter(
      ({ code, sample }) => code === 'IPAM_EXHAUSTED_HOSTLOCAL' && sample.includes('range set'),
    )
    expect(exhausted.length).toBeGreaterThan(15)
    for (const message of exhausted) {
      const text = ipv6(message.sample, random)
      const { ranges, rangeIndex } = readCniMessage(text)
      expect(text).toContain(`range set: ${ranges.join(',')}`)
      expect(ranges).toHaveLength(1)
      expect(rangeIndex).toBe(message.id === 'A19' ? 1 : 0)
    }
  })

  test('no file name or line number decides: without them every verdict is the same', () => {
    const without = bodies.map(message => ({
      message,
      how: 'without places',
      text: message.sample.replace(/[\w/]{1,40}\.go:\d{1,5}\] ?/g, ''),
    }))
    expect(wrong(without)).toEqual([])
    const alone = bodies.flatMap(({ sample }) => /[\w/]{1,40}\.go:\d{1,5}\]/.exec(sample)?.[0] ?? [])
    expect(alone.length).toBeGreaterThan(25)
    expect(alone.map(place => readCniMessage(`E0303 09:08:07.1 1 ${place} nothing to tell`).code)).toEqual(
      alone.map(() => 'OTHER'),
    )
  })
})
