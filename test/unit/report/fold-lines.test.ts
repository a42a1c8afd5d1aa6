import { foldLines } from '../../../src/core/report/fold-lines.js'
import type { Line } from '../../../src/core/report/report.js'

const line = (text: string, source = 'containerd'): Line => ({
  from: 'journal',
  source,
  object: undefined,
  count: 1,
  overMs: undefined,
  warning: false,
  text,
  reading: undefined,
})

test('P-E7: few lines stay as they are, alike or not', () => {
  const few = Array.from({ length: 200 }, () => line('failed to destroy network for sandbox'))
  expect(foldLines(few)).toEqual(few)
})

test('P-E7: thousands of lines that differ in ids, times and numbers only are one, with how many there were', () => {
  const id = (n: number): string => n.toString(16).padStart(64, 'a')
  const many = Array.from({ length: 5_000 }, (_, n) =>
    line(
      `12:00:${n % 60} failed to destroy network for sandbox "${id(n)}": 10.244.7.${n % 250} attempt ${n}`,
    ),
  )
  const folded = foldLines([...many, line('something else'), line('something else', 'kubelet')])
  expect(folded.map(({ count }) => count)).toEqual([5_000, 1, 1])
  expect(folded[0]?.text).toBe(many[0]?.text)
})

test('P-E7: of too many kinds those stay that may tell of trouble, wherever they stand', () => {
  const word = (n: number): string => String(n).replaceAll(/\d/g, digit => 'ghijklmnop'[Number(digit)] ?? '')
  const chatter = Array.from({ length: 3_000 }, (_, n) => line(`started ${word(n)}`))
  const folded = foldLines([...chatter, line('plugin type="bridge" failed (delete): no such file')])
  expect(folded).toHaveLength(250)
  expect(folded.filter(({ text }) => text.includes('failed (delete)'))).toHaveLength(1)
})
