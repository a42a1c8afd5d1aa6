import { textOf, thread } from './driver.js'
import { brokenNode, type Extra, type Teller } from './story.js'
import { template } from './workloads.js'
import type { World } from './world.js'

/** Which repair the approver chooses. */
export type Path = 'reconcile' | 'drain'

const name = 'payments-db'
const meta = (of: string) => ({ namespace: 'payments', name: of, labels: { app: name } })

/** Two replicas of which a budget needs both: the first of them on the broken node, with a scratch volume. */
const startGuardedDatabase = (world: World): void => {
  const { store } = world.api
  const pods = template('payments', name, { volumes: [{ name: 'scratch', emptyDir: {} }] })
  const set = store.create('statefulsets', {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: meta(name),
    spec: {
      replicas: 2,
      serviceName: name,
      selector: { matchLabels: { app: name } },
      template: pods,
      // The first Pod is placed by hand and is of no revision.
      updateStrategy: { type: 'OnDelete' },
    },
  })
  const owner = {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    name,
    uid: set.metadata.uid ?? '',
    controller: true,
  }
  store.create('pods', {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { ...meta(`${name}-0`), ownerReferences: [owner] },
    spec: { ...pods.spec, nodeName: brokenNode },
  })
  store.create('poddisruptionbudgets', {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: meta(name),
    spec: { minAvailable: 2, selector: { matchLabels: { app: name } } },
  })
}

export const guardedDatabase: Extra = { addresses: 1, start: startGuardedDatabase }

/** Whether the card says that all but the database have left. */
const onlyTheDatabase = (text: string): boolean => {
  const [, gone, all] =
    /(\d+) of (\d+), waiting for payments\/payments-db-0: PDB payments-db allows 0/.exec(text) ?? []
  return gone !== undefined && Number(gone) === Number(all) - 1
}

/** Once the drain waits for the budget alone, the owners of the database add a replica: with three ready, one may go. */
export const makeRoomInTheBudget = async (
  world: World,
  { say }: Teller,
  deadlineMs = 600_000,
): Promise<void> => {
  await world.slack.waitFor(
    () => thread(world).find(m => onlyTheDatabase(textOf(m))),
    deadlineMs,
    'a card that says what the drain waits for',
  )
  say(`the drain waits: PDB ${name} needs 2 healthy Pods and has 2`)
  const { store } = world.api
  const set = store.get('statefulsets', 'payments', name)
  if (!set) throw new Error(`the lab has no StatefulSet payments/${name}`)
  store.update('statefulsets', { ...set, spec: { ...set.spec, replicas: 3 } })
  say(`payments scales ${name} to 3: once the third is ready, the budget allows one to go`)
}

/** Pods that a drain moves away, by uid: all but those of DaemonSets. */
export const movablePods = (world: World): Set<string> =>
  new Set(
    world.api.store
      .list('pods')
      .filter(
        pod =>
          pod.spec?.nodeName === brokenNode &&
          !pod.metadata.ownerReferences?.some(({ kind }) => kind === 'DaemonSet'),
      )
      .map(pod => pod.metadata.uid ?? ''),
  )
