import type { Case } from './case.js'
import { deaths, reboots, relapses } from './deaths.js'
import { deliveries } from './deliveries.js'
import { failures } from './failures.js'
import { outages } from './outages.js'
import { overtakings } from './overtakings.js'
import { refusals } from './refusals.js'
import { failedUndos, latestUndo, undos } from './undos.js'
import { linesOf } from '../../src/core/runbook/schema.js'
import { shippedRunbooks } from './world.js'

const undoneAfterDeath = async (runbook: string): Promise<Case[]> => {
  const person = await latestUndo(runbook)
  return person.undoAt === undefined ? [] : deaths(runbook, person, 'undone')
}

/**
 * One story each with one fault in it, generated from the story without a fault: so a new runbook, a new step or a new call
 * of a step is covered by itself. At every end: one of the five ends or a person who is asked, no living address freed,
 * nothing done twice, and a thread that says what is so.
 */
const kinds: [string, (runbook: string) => Promise<Case[]>][] = [
  ['B3: each step fails in four ways while planned and while done, and each choice at the pause', failures],
  ['B3: the node refuses a removal, or keeps an address that is in use', refusals],
  ['B3: every job of each step is delivered twice, in a row and at once', deliveries],
  ['B3: the worker is killed after every call that leaves a trace', deaths],
  ['B3: the worker is killed after a change, and the next one meets an error', relapses],
  [
    'B3: the worker is killed after a change, and the node is started anew before the next one looks',
    reboots,
  ],
  ['B3: Redis goes away for a while at every write and every kind of read', outages],
  ['B3: a worker is stopped at each call, another one takes over, then the first goes on', overtakings],
  ['B4: undo in place of each approval', undos],
  ['B4: the worker is killed anywhere, and all of it is undone', undoneAfterDeath],
  [
    'B4: a worker is overtaken in an undo',
    async name => overtakings(name, await latestUndo(name), 'undoing'),
  ],
  ['B4: an undo fails', async name => failedUndos(name, await latestUndo(name))],
]
/** What must exist for every single step; a `confirm` asks nothing outside, so nothing of it can fail. */
const everyStep = kinds
  .map(([what]) => what)
  .filter(what => /fails in four ways|delivered twice|trace$|Redis/.test(what))

const runbooks = await shippedRunbooks()
const counted: { runbook: string; what: string; step: number }[] = []

/** A case that does not come to its end is wrong as well, and must not keep the others from being tried. */
const hangsAfterMs = 30_000

const wrongIn = async ({ name, run }: Case): Promise<string[]> => {
  let timer: NodeJS.Timeout | undefined
  const hangs = new Promise<string[]>(resolve => {
    timer = setTimeout(() => resolve(['it does not end']), hangsAfterMs)
  })
  const ended = run().catch((error: unknown) => [String(error)])
  const wrong = await Promise.race([ended, hangs])
  clearTimeout(timer)
  return wrong.map(what => `${name}: ${what}`)
}

describe.each(runbooks.map(({ name }) => name))('the saga of %s', runbook => {
  test.each(kinds)(
    '%s',
    async (what, generate) => {
      const wrong: string[] = []
      for (const each of await generate(runbook)) {
        wrong.push(...(await wrongIn(each)))
        counted.push({ runbook, what, step: each.step })
      }
      expect(wrong).toEqual([])
    },
    600_000,
  )
})

test('every step of every shipped runbook is covered, and how many cases there are', () => {
  const steps = runbooks.flatMap(book =>
    linesOf(book).map(({ kind }, step) => ({ runbook: book.name, step, kind })),
  )
  const missing = everyStep.flatMap(what =>
    steps.filter(
      ({ runbook, step, kind }) =>
        !(kind === 'confirm' && what.includes('fails in four ways')) &&
        !counted.some(each => each.what === what && each.runbook === runbook && each.step === step),
    ),
  )
  expect(missing).toEqual([])
  process.stdout.write(
    `saga: ${counted.length} cases over ${runbooks.length} runbooks, ${steps.length} steps\n`,
  )
})
