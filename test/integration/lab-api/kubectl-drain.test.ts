import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import type { LabApi } from '../../lab/api/index.js'
import { KubectlLab } from './kubectl-lab.js'
import { pod, until, workload } from './tiny-cluster.js'

let lab: KubectlLab
let api: LabApi
const kubectl = (...args: string[]) => lab.kubectl(...args)

beforeAll(async () => {
  lab = await KubectlLab.start()
  api = lab.api
})

afterAll(() => lab?.stop())

const ledger = {
  metadata: { labels: { app: 'ledger' } },
  spec: {
    containers: [{ name: 'ledger', image: 'lab.local/busybox:1.35' }],
    nodeSelector: { 'kubernetes.io/hostname': 'node-03' },
  },
}

describe('kubectl drain', () => {
  test('stops at a Pod without a controller, then at a budget, then empties the node', async () => {
    const here = (name: string) => api.store.get('pods', 'payments', name)
    api.store.create('pods', pod('bare', { nodeName: 'node-03' }))
    api.store.create('statefulsets', workload('StatefulSet', 'ledger', { replicas: 1, template: ledger }))
    api.store.create('poddisruptionbudgets', {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: { name: 'ledger', namespace: 'payments' },
      spec: { maxUnavailable: 0, selector: { matchLabels: { app: 'ledger' } } },
    })
    const counted = () =>
      api.store.get('poddisruptionbudgets', 'payments', 'ledger')?.status?.currentHealthy === 1
    await until(api.store, counted, 'the budget counted')
    const refused = await kubectl('drain', 'node-03', '--ignore-daemonsets', '--timeout=5s')
    expect(refused.stdout).toBe('node/node-03 cordoned\n')
    expect(refused.stderr).toContain(
      'cannot delete Pods that declare no controller (use --force to override): payments/bare',
    )
    expect(here('bare')).toBeDefined()
    const blocked = await kubectl('drain', 'node-03', '--ignore-daemonsets', '--force', '--timeout=2s')
    expect(blocked.stderr).toContain('ignoring DaemonSet-managed Pods: payments/log-shipper-')
    expect(blocked.stderr).toContain(
      `error when evicting pods/"ledger-0" -n "payments" (will retry after 5s): Cannot evict pod as it would violate the pod's disruption budget.`,
    )
    expect(blocked.stdout).toContain('pod/bare evicted')
    expect(blocked.code).toBe(1)
    api.store.remove('poddisruptionbudgets', 'payments', 'ledger')
    const drained = await kubectl('drain', 'node-03', '--ignore-daemonsets', '--force', '--timeout=20s')
    expect(drained.stdout).toContain('node/node-03 drained')
    const left = api.store.list('pods', 'payments').filter(each => each.spec?.nodeName === 'node-03')
    expect(left.map(each => each.metadata.name)).toEqual([expect.stringMatching(/^log-shipper-/)])
    await kubectl('uncordon', 'node-03')
  })
})
