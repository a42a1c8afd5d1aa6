import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { type LabApi, startApiServer } from '../../lab/api/index.js'
import { Client } from './client.js'
import { fixedClock, node, pod } from './tiny-cluster.js'

let api: LabApi
let client: Client

beforeEach(async () => {
  api = await startApiServer({ clock: fixedClock() })
  client = new Client(api)
  api.store.create('nodes', node('node-07'))
})

afterEach(async () => {
  await client.close()
  await api.close()
})

describe('the store', () => {
  test('listeners hear of changes in order, also of those made by a listener', () => {
    const heard: string[] = []
    api.store.onChange((type, _resource, object) => {
      if (type === 'ADDED' && object.metadata.name === 'first') api.store.create('pods', pod('second'))
    })
    api.store.onChange((type, _resource, object) => heard.push(`${type} ${object.metadata.name}`))
    api.store.create('namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'payments' } })
    api.store.create('pods', pod('first'))
    expect(heard).toEqual(['ADDED payments', 'ADDED first', 'ADDED second'])
  })

  test('objects handed out cannot be changed in place, and an old one cannot be written back', () => {
    const old = api.store.create('pods', pod('a'))
    expect(() => Object.assign(old.metadata, { name: 'b' })).toThrow(TypeError)
    api.store.update('pods', { ...old, metadata: { ...old.metadata, labels: { x: 'y' } } })
    expect(() => api.store.update('pods', { ...old, status: {} })).toThrow('the object has been modified')
  })

  test('events are forgotten an hour after they were last seen', async () => {
    await client.close()
    await api.close()
    const clock = fixedClock()
    api = await startApiServer({ clock })
    client = new Client(api)
    const event = (name: string) => ({
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name, namespace: 'payments' },
      lastTimestamp: new Date(clock.now()).toISOString(),
    })
    api.store.create('events', event('early'))
    clock.advance(3_700_000)
    api.store.create('events', event('late'))
    expect(api.store.list('events').map(each => each.metadata.name)).toEqual(['late'])
  })
})
