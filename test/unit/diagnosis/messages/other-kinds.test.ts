import { readFileSync } from 'node:fs'
import { readCniMessage } from '../../../../src/core/diagnosis/cni-message.js'
import { seeded, wrappings } from './mutate.js'

const rows = readFileSync('test/fixtures/messages-other-kinds.tsv', 'utf8')
  .trimEnd()
  .split('\n')
  .slice(1)
  .map(line => line.split('\t') as [code: string, causes: string, sample: string])

describe('P-R3: messages about what is not, or not only, the network plugin', () => {
  test.each(rows.map(([code, causes, sample]) => [code, sample.slice(0, 90), causes, sample] as const))(
    '%s: %s',
    (code, _start, causes, sample) => {
      const read = readCniMessage(sample)
      expect([read.code, read.causes.join(' ')]).toEqual([code, causes])
    },
  )

  test.each(Object.entries(wrappings))('the same as %s', (_how, wrap) => {
    const random = seeded(7)
    const wrong = rows
      .map(([code, causes, sample]) => ({ code, causes, sample, read: readCniMessage(wrap(sample, random)) }))
      .filter(({ code, causes, read }) => read.code !== code || read.causes.join(' ') !== causes)
      .map(({ code, sample, read }) => `${code}, not ${read.code}: ${sample.slice(0, 120)}`)
    expect(wrong).toEqual([])
  })

  test('none of them is taken for an exhausted range, and each sentence is without text of the cluster', () => {
    for (const [, , sample] of rows) {
      const { kind, says } = readCniMessage(sample)
      expect(kind).not.toBe('exhausted')
      expect(says).toMatch(/^[A-Za-z][\w ,;:'.()-]+\.$/)
    }
  })
})
