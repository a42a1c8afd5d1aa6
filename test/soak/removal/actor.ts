import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { RunStepDeps } from '../../../src/flows/step-events.js'
import { runStep } from '../../../src/flows/run-step.js'
import { fakeCluster, fakeNode, fakePod } from '../../fakes/cluster.js'
import { fakeLog } from '../../fakes/log.js'
import { fileClock } from '../../../src/adapters/system/clock.js'
import type { Cluster } from '../../../src/ports.js'
import { placeFile, type StepOrder, type Stepped } from './actor-orders.js'
import { FileHistory } from './file-history.js'
import { SoakShell } from './soak-shell.js'
import { type ApiState, nodeName } from './soak-node.js'

// The acting process: the worker's own flow, step and script, with histories in files, and doubles of API and SSH.
const root = process.argv[2] ?? ''
let order: StepOrder | undefined
let places = 0

/** A place where this process touches something outside itself: there it dies when it was told to. */
const point = (name: string): void => {
  places += 1
  if (places !== order?.dieAt) return
  writeFileSync(join(root, '.lab', placeFile), name)
  process.kill(process.pid, 'SIGKILL')
}

const api = (): ApiState => JSON.parse(readFileSync(join(root, '.lab/api.json'), 'utf8')) as ApiState

const clusterDouble = (): Cluster => ({
  ...fakeCluster(),
  node: name => {
    point('before the node is read from the API')
    const { bootId } = api()
    const over = { bootId, unschedulable: true, uid: 'node-uid', cordonedBy: 'soak' }
    return Promise.resolve(name === nodeName ? fakeNode(name, over) : undefined)
  },
  podsOnNode: node => {
    point('before the Pods are read from the API')
    const pods = api().pods.map(({ uid, name, ip, startedAt }) =>
      fakePod('payments', name, {
        uid,
        node,
        phase: 'Running',
        ips: ip === undefined ? [] : [ip],
        ready: true,
        createdAt: startedAt,
        startedAt,
        sandboxReady: true,
      }),
    )
    return Promise.resolve(pods)
  },
})

const clock = fileClock(join(root, 'clock'))
const minute = 60_000
const settings = {
  peers: 0,
  probeTimeoutMs: 30_000,
  probeMaxBytes: 8 * 1024 * 1024,
  testPodNamespace: 'cnibot',
  testPodImage: '',
  own: { podNamespace: undefined, podName: undefined, redisHost: '' },
  deadlineMs: 30_000,
  lookEveryMs: 2,
  takeOverAfterMs: 1,
  approvalTtlMs: 1_000 * minute,
  bundleTtlMs: 1_000 * minute,
  incidentWindowMs: minute,
}

const dependencies = (given: StepOrder): RunStepDeps => ({
  clusterName: 'soak',
  cluster: clusterDouble(),
  shell: new SoakShell(root, given, point),
  clock,
  history: new FileHistory(join(root, 'history'), point),
  jobs: { enqueue: () => Promise.resolve() },
  runbooks: { list: () => Promise.resolve([]) },
  log: fakeLog(),
  settings,
})

process.on('message', (given: StepOrder) => {
  order = given
  places = 0
  const { run, length } = given
  const job = { run, node: nodeName, length }
  runStep(dependencies(given))(job, new AbortController().signal).then(
    () => {
      order = undefined
      const stepped: Stepped = { stepped: true, places }
      process.send?.(stepped)
    },
    (error: unknown) => {
      process.stderr.write(
        `the acting process: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`,
      )
      process.exit(70)
    },
  )
})
process.on('disconnect', () => process.exit(0))
