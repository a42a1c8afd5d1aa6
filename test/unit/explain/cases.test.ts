import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { CauseCode } from '../../../src/core/diagnosis/cause.js'
import { type Answer, explain } from '../../../src/core/explain/explain.js'
import { readReport } from '../../../src/core/report/read-report.js'

interface Case {
  expected: {
    cause_code: CauseCode
    also_accept: CauseCode[]
    contributing: CauseCode[]
    confidence: string
  }
}
interface Judged {
  file: string
  expected: Case['expected']
  answer: Answer
  right: boolean
}

const judge = (folder: string): Judged[] =>
  readdirSync(folder)
    .filter(name => name.endsWith('.json'))
    .sort()
    .map(file => {
      const value = JSON.parse(readFileSync(join(folder, file), 'utf8')) as Case
      const answer = explain(readReport(value).report)
      const { expected } = value
      const right = [expected.cause_code, ...expected.also_accept].includes(answer.cause)
      return { file, expected, answer, right }
    })

const row = ({ file, expected, answer, right }: Judged): string =>
  `${right ? ' ' : '✗'} ${file.slice(0, 44).padEnd(45)}${`${expected.cause_code}, ${expected.confidence}`.padEnd(36)}${answer.cause}, ${answer.confidence}`

const changing = new Set(['drain', 'remove-orphans', 'restart-rollout', 'recreate-pod', 'restore-route'])

describe.each([
  // The first are the cases the rules were written beside; the others came later, from other reports of the same kinds.
  ['cases', 38, 36],
  ['more-cases', 62, 49],
])('P-R3: public reports in %s', (name, count, least) => {
  const judged = judge(join('test/fixtures', name))

  test(`the main cause is right in at least ${least} of ${count}`, () => {
    const right = judged.filter(each => each.right).length
    process.stdout.write(
      `${judged.map(row).join('\n')}\n${name}: ${right} of ${judged.length} main causes right\n`,
    )
    expect(judged).toHaveLength(count)
    expect(right).toBeGreaterThanOrEqual(least)
  })

  test('a wrong answer is never sure', () => {
    expect(judged.filter(each => !each.right && each.answer.confidence === 'high').map(row)).toEqual([])
  })

  test('counts alone offer no change of the store, whatever the cause', () => {
    for (const { answer } of judged) expect(answer.changes.filter(kind => changing.has(kind))).toEqual([])
  })

  test('every answer says what to do first', () => {
    expect(judged.filter(({ answer }) => answer.actions.length === 0).map(({ file }) => file)).toEqual([])
  })
})
