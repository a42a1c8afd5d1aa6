import { Failed, Refused, Unreachable } from '../../src/ports.js'
import { undoStep } from '../../src/steps/index.js'
import type { Plan } from '../../src/core/runbook/plan.js'
import { cordonMark } from '../../src/core/runbook/cordon-mark.js'
import { bench } from './drain-context.js'

const cordon: Plan<'cordon'> = {
  kind: 'cordon',
  title: 'Cordon node-07',
  facts: [],
  lists: [],
  commands: [],
  nothingToDo: false,
  data: { wasUnschedulable: false, wasCordonedBy: undefined },
  readAt: 0,
}
const uncordon: Plan<'uncordon'> = { ...cordon, kind: 'uncordon', data: { cordonedBy: undefined } }

/** A node with our cordon whose API server fails `times` times at each call in question. */
const failing = (times: number, error: () => Error) => {
  const world = bench([])
  const [facts] = world.cluster.all.nodes
  Object.assign(facts!, { unschedulable: true, cordonedBy: cordonMark(world.ctx.run) })
  let asked = 0
  const setSchedulable = world.cluster.setSchedulable.bind(world.cluster)
  const cluster = {
    ...world.cluster,
    setSchedulable: (...args: Parameters<typeof setSchedulable>) => {
      asked += 1
      return asked <= times ? Promise.reject(error()) : setSchedulable(...args)
    },
  }
  return { facts: facts!, ctx: { ...world.ctx, cluster }, asked: () => asked, abort: world.abort }
}

describe('B4: an undo that failed ends the run, so one bad moment must not fail it', () => {
  test.each([
    ['the API server has a hiccup', () => new Unreachable('no answer')],
    ['it answers with an error', () => new Failed('answered 400')],
    ['it refuses for a while', () => new Refused('webhook denied')],
  ])('a cordon is lifted and set again where %s', async (_what, error) => {
    const lifting = failing(2, error)
    expect(await undoStep(cordon, undefined, lifting.ctx)).toEqual({
      says: 'schedulable again, as it was before',
      left: [],
    })
    expect(lifting.facts.unschedulable).toBe(false)
    const setting = failing(2, error)
    setting.facts.unschedulable = false
    expect((await undoStep(uncordon, undefined, setting.ctx)).says).toBe('cordoned again')
    expect(setting.asked()).toBe(3)
  })
  test('it is given up after three tries, and says so', async () => {
    const { ctx, asked } = failing(9, () => new Unreachable('no answer'))
    await expect(undoStep(cordon, undefined, ctx)).rejects.toThrow(new Failed('no answer; tried 3 times'))
    expect(asked()).toBe(3)
  })
  test('a bug is no bad moment, and a worker that stops does not try on', async () => {
    const bug = failing(9, () => new TypeError('a bug'))
    await expect(undoStep(cordon, undefined, bug.ctx)).rejects.toThrow(TypeError)
    expect(bug.asked()).toBe(1)
    const stopping = failing(9, () => {
      stopping.abort.abort(new Error('stopped'))
      return new Unreachable('no answer')
    })
    await expect(undoStep(cordon, undefined, stopping.ctx)).rejects.toThrow('no answer')
    expect(stopping.asked()).toBe(1)
  })
})
