import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect, createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parse, stringify } from 'yaml'
import { createCluster } from '../../../src/adapters/kubernetes/cluster.js'
import { connectKube } from '../../../src/adapters/kubernetes/connect.js'
import { Failed, Refused, Unreachable } from '../../../src/ports.js'
import { startTestApi, type TestApi } from './api.js'

const clock = { now: () => Date.now() }

describe('the connection to an API server', () => {
  let api: TestApi
  let dir: string
  beforeEach(async () => {
    dir = mkdtempSync(join(tmpdir(), 'cnibot-kubeconfig-'))
  })
  afterEach(async () => {
    await api?.close()
    rmSync(dir, { recursive: true, force: true })
  })
  const file = (text: string): string => {
    const path = join(dir, 'config')
    writeFileSync(path, text)
    return path
  }
  const start = async (options: Parameters<typeof startTestApi>[0] = {}) => {
    api = await startTestApi(options)
    api.server.store.create('nodes', {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name: 'node-07' },
      spec: {},
      status: {},
    })
    return createCluster(api.kube, clock)
  }

  /** Counts the connections on their way to the server. */
  const countingProxy = async (target: string) => {
    let count = 0
    const { port } = new URL(target)
    const proxy = createServer(socket => {
      count += 1
      const onward = connect(Number(port), '127.0.0.1')
      socket.pipe(onward).pipe(socket)
      for (const end of [socket, onward]) end.on('error', () => end.destroy())
    })
    await new Promise<void>(resolve => proxy.listen(0, '127.0.0.1', resolve))
    return {
      url: `https://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
      count: () => count,
      close: () => new Promise<void>(resolve => proxy.close(() => resolve())),
    }
  }

  test('two hundred calls share a few connections, at most as many as allowed', async () => {
    await start()
    const proxy = await countingProxy(api.server.url)
    const text = api.server.kubeconfig().replace(api.server.url, proxy.url)
    const kube = connectKube({ kubeconfig: file(text), context: undefined }, { connections: 3 })
    const cluster = createCluster(kube, clock)
    await Promise.all(Array.from({ length: 200 }, () => cluster.node('node-07')))
    for (let n = 0; n < 20; n += 1) await cluster.nodes()
    expect(proxy.count()).toBeLessThanOrEqual(3)
    await kube.close()
    await proxy.close()
  })

  test('a server that never answers: Unreachable after the deadline', async () => {
    const cluster = await start({ timeoutMs: 100 })
    api.server.faults.add({ answer: 'hang' })
    const error = await cluster.node('node-07').catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(Unreachable)
    expect(String(error)).toBe(
      `Unreachable: could not read node node-07: ${api.server.url} gave no answer: no answer within the deadline`,
    )
  })

  test('a broken connection, and a port where nobody listens: Unreachable', async () => {
    const cluster = await start()
    api.server.faults.add({ answer: 'reset' })
    await expect(cluster.nodes()).rejects.toThrow(Unreachable)
    await api.server.close()
    await expect(cluster.nodes()).rejects.toThrow(/ECONNREFUSED/)
  })

  test.each([
    [403, Refused],
    [422, Failed],
    [429, Unreachable],
    [500, Unreachable],
    [503, Unreachable],
  ])('an answer of %d has its class and one line', async (code, kind) => {
    const cluster = await start()
    api.server.faults.add({ answer: { code, reason: 'Because', message: 'line one\nline two' } })
    const error = await cluster.nodes().catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(kind)
    expect(String(error)).toMatch(/^\w+: could not list nodes: .*line one line two/)
    expect(String(error)).not.toMatch(/HTTP-Code|Headers|audit/i)
  })

  test('what a role does not allow is named', async () => {
    const cluster = await start({ allow: ({ verb }) => verb !== 'patch' })
    const expectUid = (await cluster.node('node-07'))?.uid ?? ''
    const change = { unschedulable: true, cordonedBy: 'node-07.1', expectUid }
    await expect(cluster.setSchedulable('node-07', change)).rejects.toThrow(
      /could not cordon node-07: not allowed: nodes "node-07" is forbidden: User "admin" cannot patch resource "nodes".*check the role/,
    )
  })

  test('a 401 is tried once more: a token may have been rotated a moment ago', async () => {
    const cluster = await start()
    const answer = { code: 401, reason: 'Unauthorized', message: 'Unauthorized' }
    api.server.faults.add({ answer, times: 1 })
    expect(await cluster.node('node-07')).toMatchObject({ name: 'node-07' })
    api.server.faults.add({ answer, times: 2 })
    await expect(cluster.node('node-07')).rejects.toThrow(/does not accept our credentials; check token/)
  })

  test('the context is chosen by name; an unknown one is refused with those there are', async () => {
    await start()
    const text = api.server.kubeconfig()
    const config = { ...(parse(text) as { contexts: object[] }), 'current-context': 'elsewhere' }
    const path = file(stringify(config))
    const kube = connectKube({ kubeconfig: path, context: 'lab' })
    expect(await createCluster(kube, clock).nodes()).toHaveLength(1)
    await kube.close()
    expect(() => connectKube({ kubeconfig: path, context: undefined })).toThrow(
      `kubeconfig ${path} has no context "elsewhere"; it has: lab`,
    )
  })

  test.each([
    ['is missing', undefined, /kubeconfig .*config cannot be read: ENOENT/],
    ['is no YAML', 'contexts: [', /kubeconfig .*config cannot be read: /],
    ['is empty', '', /kubeconfig .*config cannot be read: .*empty/],
    ['is something else', 'null', /kubeconfig .*config cannot be read: it is no kubeconfig/],
    ['has no contexts', 'apiVersion: v1\nkind: Config\n', /has no context ""; it has: none at all/],
    [
      'names no cluster',
      stringify({
        'current-context': 'a',
        contexts: [{ name: 'a', context: { cluster: 'gone', user: 'u' } }],
      }),
      /its context names no cluster/,
    ],
  ])('a kubeconfig that %s is refused in one line', (_name, text, message) => {
    const path = text === undefined ? join(dir, 'config') : file(text)
    const attempt = () => connectKube({ kubeconfig: path, context: undefined })
    expect(attempt).toThrow(Refused)
    expect(attempt).toThrow(message)
  })

  test('without a kubeconfig and outside a cluster it says so', () => {
    expect(() => connectKube({ kubeconfig: undefined, context: undefined })).toThrow(
      'not inside a cluster: name a kubeconfig file',
    )
  })
})
