import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { fixture, KubeletLab, shape } from './kubelet-lab.js'

let world: KubeletLab
beforeEach(async () => {
  world = await KubeletLab.start()
})
afterEach(() => world.close())

describe('trouble with the runtime', () => {
  test('a restart that loses its records leaks every address, and Pods get new sandboxes', async () => {
    await world.create('log-shipper-1')
    const [first] = world.node.sandboxes()
    const before = world.node.allocations()
    world.node.restartRuntime({ loseMetadata: true })
    expect(world.node.sandboxes()).toEqual([])
    await world.later(2000)
    expect(world.node.orphans()).toEqual(before)
    expect(world.node.sandboxes().map(sandbox => sandbox.pod.attempt)).toEqual([1])
    expect(world.node.sandboxes()[0]?.id).not.toBe(first?.id)
    expect(world.events('SandboxChanged')).toHaveLength(1)
    expect(world.status('log-shipper-1')).toMatchObject({
      phase: 'Running',
      containerStatuses: [{ restartCount: 1 }],
    })
  })

  test('on a full range the Pod stays Running without a sandbox, shaped as the real one (C1)', async () => {
    await world.create('log-shipper-1')
    await world.node.leak(12)
    world.node.restartRuntime({ loseMetadata: true })
    await world.later(2000)
    const real = fixture('pod-without-sandbox').status as { conditions: unknown }
    const { phase, conditions, podIP } = world.status('log-shipper-1')
    expect({ phase, podIP }).toEqual({ phase: 'Running', podIP: undefined })
    expect(shape(conditions)).toEqual(shape(real.conditions))
    expect(world.events('FailedCreatePodSandBox')).toHaveLength(1)
  })

  test('a reboot kills the sandboxes; their addresses are freed, leaked ones are not', async () => {
    await world.create('log-shipper-1')
    await world.node.leak(5)
    world.node.reboot()
    await world.later(1000)
    expect(world.node.orphans()).toHaveLength(5)
    expect(world.node.allocations()).toHaveLength(6)
    expect(world.status('log-shipper-1')).toMatchObject({ phase: 'Running' })
  })

  test('a failing DEL keeps the Pod in Terminating and its address taken (P-E7)', async () => {
    await world.create('log-shipper-1')
    world.node.breakDel('empty-cache')
    await world.markDeleted('log-shipper-1')
    expect(world.get('log-shipper-1')?.metadata.deletionTimestamp).toBeDefined()
    expect(world.node.allocations()).toHaveLength(1)
    const [event] = world.events('FailedKillPod')
    const { apiVersion: _version, kind: _kind, ...fields } = event ?? {}
    expect(shape(fields)).toEqual(shape(fixture('event-kill-failed')))
    expect(event?.message).toMatch(
      /^error killing pod: failed to "KillPodSandbox" for "[0-9a-f-]{36}" with KillPodSandboxError: "rpc error: code = Unknown desc = failed to destroy network for sandbox \\"[0-9a-f]{64}\\": failed to get network/,
    )
    world.node.breakDel(false)
    await world.later(13_000)
    expect(world.get('log-shipper-1')).toBeUndefined()
    expect(world.node.allocations()).toEqual([])
  })

  test('a network that does not load makes the node NotReady; a full range does not (P-R1)', async () => {
    world.node.switches.conflistBroken(true)
    await world.create('log-shipper-1')
    expect(String(world.events('FailedCreatePodSandBox')[0]?.message)).toMatch(
      /": cni plugin not initialized$/,
    )
    await world.restartKubelet()
    expect(world.ready()?.status).toBe('False')
    expect(world.ready()?.message).toContain('Network plugin returns error: cni plugin not initialized')
  })
})

test('a kubelet that was stopped has nothing left to wait for', async () => {
  await world.kubelets.stop()
  await world.create('too-late')
  expect(world.status('too-late').phase).toBe('Pending')
  await world.restartKubelet()
  await world.kubelets.settled()
  expect(world.status('too-late').phase).toBe('Running')
})
