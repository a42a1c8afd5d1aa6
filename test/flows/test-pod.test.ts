import { runStream } from '../../src/core/incident/incident.js'
import type { RunEvent, StepError } from '../../src/core/runbook/run.js'
import { Refused, Unreachable } from '../../src/ports.js'
import { drive } from '../saga/drive.js'
import { startWorld, type World } from '../saga/world.js'

/** The first error of a run in which DEL gives no address back, so that the test Pod's own stays. */
const errorWhere = async (cleanUp: (world: World) => Partial<World['cluster']>): Promise<StepError> => {
  const world = await startWorld('leak-reconcile')
  world.onNode.del = () => undefined
  const cluster = { ...world.cluster, ...cleanUp(world) }
  await drive(world, world.worker({ ...world.ports, cluster }))
  const { events } = await world.history.read<RunEvent>(runStream('node-07.1-r1'))
  const failed = events.find(event => event.type === 'StepFailed')
  if (failed?.type !== 'StepFailed') throw new Error('nothing failed')
  return failed.error
}

const deleted = ({ cluster }: World): boolean =>
  cluster.changes.some(change => change.startsWith('delete cnibot/'))

const still = /^leak still active: the test Pod was deleted and 10\.244\.7\.\d+ did not come back within/

test('P-V3: that the leak goes on is said as it was found', async () => {
  const { class: kind, message, output } = await errorWhere(() => ({}))
  expect(kind).toBe('failed')
  expect(message).toMatch(still)
  expect(output).toBe('address files before the delete 5, now 5')
})

test.each([
  ['cannot be reached', new Unreachable('no answer')],
  ['refuses', new Refused('a webhook said no')],
])('P-V3: it is still said where the API server %s when it is to be cleaned up', async (_what, error) => {
  const failure = await errorWhere(world => ({
    pod: async (namespace, name) => {
      if (deleted(world)) throw error
      return world.cluster.pod(namespace, name)
    },
  }))
  expect(failure).toEqual({
    class: 'failed',
    message: expect.stringMatching(still),
    output: expect.stringMatching(
      new RegExp(
        `^address files before the delete 5, now 5\nthe test Pod cnibot/cnibot-test-\\w+ may be left: ${error.message}$`,
      ),
    ),
  })
})
