import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { type LabApi, startApiServer } from '../../lab/api/index.js'
import { at, isRecord, type Pod } from '../../lab/api/shapes.js'
import type { KubeObject } from '../../lab/store.js'
import { Client, itemsOf } from './client.js'
import { fixedClock, node, startTinyCluster, type TinyCluster, until } from './tiny-cluster.js'

const fixture = (name: string) =>
  readFileSync(fileURLToPath(new URL(`../../fixtures/api-server/${name}`, import.meta.url)), 'utf8')

/** Lists as a real API server v1.36.2 sent them, while node-07 had no address left. */
const captured = JSON.parse(fixture('lists.json')) as Record<
  string,
  { kind: string; apiVersion: string; items: KubeObject[] }
>

const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration'
const paths: Record<string, string> = {
  daemonsets: '/apis/apps/v1',
  deployments: '/apis/apps/v1',
  replicasets: '/apis/apps/v1',
  statefulsets: '/apis/apps/v1',
  jobs: '/apis/batch/v1',
  poddisruptionbudgets: '/apis/policy/v1',
}
const applied = ['daemonsets', 'deployments', 'statefulsets', 'jobs', 'poddisruptionbudgets']

let api: LabApi
let client: Client
let cluster: TinyCluster

const started = new Set<string>()

/** What node-07 could not start in the capture: everything of its last minutes but the first three `reports`. */
const starved = (pod: Pod): boolean => {
  const { name } = pod.metadata
  if (pod.spec.nodeName !== 'node-07' || !/^(log-shipper|reports|settle)-/.test(name)) return false
  if (name.startsWith('reports-') && started.size < 3) started.add(name)
  return !started.has(name)
}

beforeAll(async () => {
  api = await startApiServer({ clock: fixedClock() })
  client = new Client(api)
  cluster = startTinyCluster({ store: api.store, nodes: 0, refuse: starved })
  for (const name of ['node-07', 'node-08', 'node-09']) api.store.create('nodes', node(name))
  for (const name of ['payments', 'kube-system'])
    await client.request('POST', '/api/v1/namespaces', { body: { metadata: { name } } })
  for (const resource of applied)
    for (const item of captured[resource]?.items ?? []) await create(resource, item)
  const settled = () =>
    api.store.get('deployments', 'payments', 'checkout')?.status?.availableReplicas === 38 &&
    api.store.get('deployments', 'payments', 'api')?.status?.availableReplicas === 6 &&
    api.store.get('statefulsets', 'payments', 'ledger')?.status?.availableReplicas === 2 &&
    api.store.get('poddisruptionbudgets', 'payments', 'ledger')?.status?.currentHealthy === 2 &&
    api.store.get('daemonsets', 'kube-system', 'log-shipper')?.status?.numberReady === 2
  await until(api.store, settled, 'the moment of the capture')
  await cluster.controllers.settled()
})

afterAll(async () => {
  cluster.stop()
  await client.close()
  await api.close()
})

/** The manifest that made the captured object, sent again; with the annotation, as kubectl apply sends it. */
const create = async (resource: string, item: KubeObject): Promise<void> => {
  const text = item.metadata.annotations?.[lastApplied] ?? ''
  const manifest = JSON.parse(text) as KubeObject
  manifest.metadata.annotations = { ...manifest.metadata.annotations, [lastApplied]: text }
  const path = `${paths[resource]}/namespaces/${item.metadata.namespace}/${resource}`
  const answer = await client.request('POST', path, { body: manifest })
  expect(answer.code).toBe(201)
  if (item.metadata.generation === 1) return
  // The captured one had been rolled out twice more, each time with another value of this variable.
  for (const value of ['2', '3']) {
    const body = {
      spec: { template: { spec: { containers: [{ name: 'agent', env: [{ name: 'REV', value }] }] } } },
    }
    const type = 'application/strategic-merge-patch+json'
    const patch = await client.request('PATCH', `${path}/${item.metadata.name}`, { body, type })
    expect(patch.code).toBe(200)
  }
}

const hash = /-[bcdfghjklmnpqrstvwxz2456789]{6,10}(?=$|[-"\s])/g
const suffix = /-[bcdfghjklmnpqrstvwxz2456789]{5}(?=$|")/

const typeOf = (condition: unknown): string => {
  const type = at(condition, 'type')
  return typeof type === 'string' ? type : ''
}

/** Random parts, hashes, ids and times replaced by their kind, so that only shape and decided values are left. */
const neutral = (value: unknown, key = ''): unknown => {
  // Their order is the order in which they first came.
  if (key === 'conditions' && Array.isArray(value))
    return neutral(value.toSorted((a, b) => typeOf(a).localeCompare(typeOf(b))))
  if (Array.isArray(value))
    return value
      .filter(each => at(each, 'configMap.name') !== 'openshift-service-ca.crt')
      .map(each => neutral(each))
  if (isRecord(value))
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, neutral(inner, name)]))
  if (typeof value !== 'string') return value
  if (/^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(value)) return '<time>'
  if (/^[0-9a-f]{8}-[0-9a-f]{4}-/.test(value)) return '<uid>'
  if (key === 'resourceVersion' || key.endsWith('hash')) return `<${key}>`
  if (/(n|N)ame$|message|Revision$/.test(key))
    return value.replace(suffix, '-<suffix>').replace(hash, '-<hash>')
  return value
}

const find = async (resource: string, namespace: string): Promise<KubeObject[]> =>
  itemsOf(
    await client.get(`${paths[resource] ?? '/api/v1'}/namespaces/${namespace}/${resource}`),
  ) as KubeObject[]

describe('objects, compared with a real API server', () => {
  const cases = applied.flatMap(resource =>
    (captured[resource]?.items ?? []).map(item => ({ resource, item })),
  )

  test.each(cases)(
    '$resource $item.metadata.name: defaults, counters and conditions',
    async ({ resource, item }) => {
      const items = await find(resource, item.metadata.namespace ?? '')
      const served = items.find(each => each.metadata.name === item.metadata.name)
      expect(neutral(served)).toEqual(neutral(item))
    },
  )

  test.each(captured.replicasets?.items ?? [])('replicasets of $metadata.labels.app', async item => {
    const items = await find('replicasets', 'payments')
    const served = items.find(each => each.metadata.labels?.app === item.metadata.labels?.app)
    expect(neutral(served)).toEqual(neutral(item))
    expect(served?.metadata.name).toMatch(/^[a-z]+-[bcdfghjklmnpqrstvwxz2456789]{6,10}$/)
  })

  test.each(captured.pods?.items ?? [])('Pod $metadata.name: metadata and spec', async item => {
    const owner = item.metadata.ownerReferences?.[0]?.name.replace(hash, '') ?? ''
    const items = await find('pods', item.metadata.namespace ?? '')
    const served = items.find(each => each.metadata.name.startsWith(`${owner}-`))
    const bound = (pod: KubeObject | undefined) => {
      const text = JSON.stringify(neutral({ metadata: pod?.metadata, spec: pod?.spec }))
      return JSON.parse(
        text.replaceAll(/node-0\d/g, 'node-0N').replaceAll(/-(tt7j2|<suffix>)/g, '-<suffix>'),
      ) as unknown
    }
    expect(bound(served)).toEqual(bound(item))
    expect(served?.status?.qosClass).toBe(item.status?.qosClass)
  })
})

describe('events, compared with a real API server', () => {
  test.each(['events', 'events.events.k8s.io'])("%s: the same event in the group's own form", async name => {
    const core = captured.events?.items ?? []
    for (const event of core)
      if (api.store.get('events', event.metadata.namespace, event.metadata.name) === undefined)
        api.store.create('events', { ...event, apiVersion: 'v1', kind: 'Event' })
    const prefix = name === 'events' ? '/api/v1' : '/apis/events.k8s.io/v1'
    for (const event of captured[name]?.items ?? []) {
      const answer = await client.get(`${prefix}/namespaces/${event.metadata.namespace}/events`)
      const served = itemsOf(answer).find(
        each => isRecord(each.metadata) && each.metadata.name === event.metadata.name,
      )
      expect(neutral(served)).toEqual(neutral(event))
      expect(answer.body).toMatchObject({
        kind: captured[name]?.kind,
        apiVersion: captured[name]?.apiVersion,
      })
    }
  })

  test.each(['Scheduled', 'SuccessfulCreate', 'ScalingReplicaSet'])(
    '%s as a controller writes it',
    async reason => {
      const real = captured.events?.items.find(event => event.reason === reason)
      const answer = await client.get(`/api/v1/events?fieldSelector=reason=${reason}`)
      const served = itemsOf(answer).find(
        each => isRecord(each.metadata) && each.metadata.uid !== real?.metadata.uid,
      )
      const shape = (event: unknown) => {
        const whole = neutral(event)
        return isRecord(whole)
          ? {
              ...whole,
              metadata: Object.keys(whole.metadata ?? {}).toSorted(),
              message: '',
              involvedObject: Object.keys(whole.involvedObject ?? {}),
            }
          : whole
      }
      expect(shape(served)).toEqual(shape(real))
    },
  )
})
