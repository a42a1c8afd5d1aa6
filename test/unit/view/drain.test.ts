import { departureList, departureWords, type Departure } from '../../../src/core/drain/progress.js'
import { undoneWords } from '../../../src/view/left-behind.js'
import { progressText } from '../../../src/view/progress.js'
import { runMessage } from '../../../src/view/run.js'
import { asMrkdwn } from '../../../src/view/text.js'
import { undoPreview } from '../../../src/view/undo.js'
import { textOf } from '../../lab/driver.js'
import { digest, event, fold, opened, planOf, runbook, t0 } from '../runbook/runs.js'

const one = (name: string, state: Departure['state'], says = ''): Departure => ({
  pod: { namespace: 'payments', name, uid: name, graceMs: 0 },
  state,
  evicted: 'no',
  says,
})
const pdb = 'PDB payments-db allows 0 (needs 2 healthy, has 2)'

describe('P-A4: how far a drain is, in one line', () => {
  test.each<[Departure[], string]>([
    [[one('a', 'gone'), one('b', 'leaving'), one('c', 'here')], '1 of 3, 1 on their way out'],
    [
      [one('a', 'gone'), one('payments-db-0', 'here', pdb)],
      `1 of 2, waiting for payments/payments-db-0: ${pdb}`,
    ],
    [
      [one('a', 'here', pdb), one('b', 'here', pdb)],
      `0 of 2, waiting for payments/a: ${pdb}, and 1 more like it`,
    ],
    [
      [one('a', 'late', 'its network cannot be torn down'), one('b', 'here', pdb)],
      '0 of 2, stopped at payments/a: its network cannot be torn down',
    ],
    [[one('a', 'gone')], '1 of 1'],
  ])('%#', (all, says) => {
    expect(departureWords(all)).toBe(says)
  })

  test('what is left is named with why, one line each', () => {
    expect(
      departureList([
        one('a', 'gone'),
        { ...one('b', 'leaving'), evicted: 'now' },
        one('c', 'here'),
        one('d', 'here', pdb),
        one('e', 'leaving'),
        { ...one('f', 'leaving'), evicted: 'before' },
      ]),
    ).toEqual([
      'payments/b: evicted, not gone yet',
      'payments/c: not evicted',
      `payments/d: ${pdb}`,
      'payments/e: on its way out, not gone yet',
      'payments/f: evicted, not gone yet',
    ])
  })
})

const book = runbook({ steps: [{ kind: 'cordon' }, { kind: 'drain' }] })
const plan = { ...planOf('drain'), title: 'Drain node-07: evict 44 Pods' }
const draining = [
  opened(book),
  event(1, 'StepPlanned', { index: 0, plan: planOf('cordon', true), digest, expiresAt: t0 + 1_800_000 }),
  event(2, 'StepDone', {
    index: 0,
    done: {
      kind: 'cordon',
      changed: true,
      says: 'cordoned',
      detail: [],
      commands: [],
      data: { changed: true },
    },
  }),
  event(3, 'StepPlanned', { index: 1, plan, digest, expiresAt: t0 + 1_800_000 }),
  event(4, 'StepApproved', { index: 1, digest }),
  event(5, 'StepStarted', { index: 1 }),
  event(6, 'StepProgressed', { index: 1, says: `30 of 44, 8 on their way out` }),
  event(7, 'StepProgressed', { index: 1, says: `31 of 44, waiting for payments/payments-db-0: ${pdb}` }),
]

describe('P-A4: a drain that was refused names no request that it never sent', () => {
  const eviction = 'POST /api/v1/namespaces/shop/pods/front-00/eviction {}'
  const asked = { ...plan, commands: [eviction] }
  const until = draining.slice(0, 3)
  const approved = [
    event(3, 'StepPlanned', { index: 1, plan: asked, digest, expiresAt: t0 + 1_800_000 }),
    event(4, 'StepApproved', { index: 1, digest }),
    event(5, 'StepStarted', { index: 1 }),
  ]
  const failing = (kind: string) =>
    event(9, 'StepFailed', { index: 1, error: { class: kind, message: 'not cordoned', output: '' } })
  const cardOf = (...events: typeof draining): string => {
    const run = fold(...until, ...events)
    return textOf(runMessage({ run, runs: [run], cordon: { whose: 'ours' }, timeZone: 'UTC' }))
  }
  test('refused before the first one', () => {
    const refused = cardOf(...approved, failing('refused'))
    expect(refused).toContain('Nothing was done.')
    expect(refused).not.toContain(eviction)
  })
  test('refused at a later start: an earlier one may have sent them', () => {
    const again = cardOf(...approved, event(6, 'StepStarted', { index: 1 }), failing('refused'))
    expect(again).toContain('This try did nothing; an earlier one may have.')
    expect(again).toContain(eviction)
  })
  test('one that failed half way shows them', () => {
    expect(cardOf(...approved, failing('failed'))).toContain(eviction)
  })
})

describe('the card of a run that drains', () => {
  const run = fold(...draining)
  const card = textOf(runMessage({ run, runs: [run], cordon: { whose: 'ours' }, timeZone: 'UTC' }))

  test('P-A4: shows the newest note of progress only, in its line and in the head', () => {
    expect(card).toMatch(
      /▸ \*Drain node-07: evict 44 Pods\* — running since .*\n.*31 of 44, waiting for payments\/payments-db-0: PDB payments-db allows 0 .*\(11:31:00\)/,
    )
    expect(card).not.toContain('30 of 44')
    expect(asMrkdwn(progressText(run, 'UTC'))).toContain('31 of 44, waiting for')
  })

  test('text of the cluster in a note cannot become markup', () => {
    const says = '1 of 2, waiting for a/<!channel>: <http://evil|click> *x*'
    const hostile = fold(...draining, event(8, 'StepProgressed', { index: 1, says }))
    const text = JSON.stringify(
      runMessage({ run: hostile, runs: [hostile], cordon: { whose: 'ours' }, timeZone: 'UTC' }),
    )
    expect(text).toContain('&lt;!channel&gt;')
    expect(text).not.toContain('<!channel>')
  })

  test('undo lifts the cordon and says that Pods are not moved back', () => {
    const failed = fold(
      ...draining,
      event(8, 'StepFailed', { index: 1, error: { class: 'failed', message: 'm', output: '' } }),
    )
    expect(undoPreview(failed)).toBe(
      "Undo lifts this incident's cordon. Not reversed: Pods that were drained stay where they run now.",
    )
  })

  const error = (kind: string) => ({ class: kind, message: 'm', output: '' })
  const undone = [
    event(9, 'UndoAsked'),
    event(10, 'UndoStarted', { index: 1 }),
    event(11, 'UndoDone', { index: 1, says: 'nothing to undo' }),
    event(12, 'UndoStarted', { index: 0 }),
    event(13, 'UndoDone', { index: 0, says: 'schedulable again' }),
    event(14, 'RunEnded', { outcome: 'undone' }),
  ]
  test('B4: a drain that was refused before a Pod was evicted has left nothing to be named', () => {
    const refused = [...draining, event(8, 'StepFailed', { index: 1, error: error('refused') })]
    expect(undoPreview(fold(...refused))).toBe("Undo lifts this incident's cordon.")
    expect(undoneWords(fold(...refused, ...undone))).toBe('undone: what it changed was put back')
  })
  test.each([
    ['may have evicted', [event(8, 'StepFailed', { index: 1, error: error('failed') })]],
    [
      'was cut off before it was refused',
      [event(7, 'StepStarted', { index: 1 }), event(8, 'StepFailed', { index: 1, error: error('refused') })],
    ],
  ])('B4: a drain that %s is named with what is not undone', (_what, events) => {
    expect(undoneWords(fold(...draining, ...events, ...undone))).toBe(
      'undone, but for the Pods that were drained, which stay where they run now',
    )
  })
})
