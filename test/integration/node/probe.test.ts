import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { probeScript } from '../../../src/adapters/ssh/scripts.js'
import type { NodeAnswers } from '../../../src/core/evidence/bundle.js'
import { isAddSuccess, isDelFailure } from '../../../src/core/evidence/parse/journal.js'
import { day, environment, look, onePlace, type Place, reason, run, storeDir, value } from './on-node.js'

let place: Place
beforeEach(async () => {
  place = await onePlace()
})
afterEach(() => place.close())

const inRoot = (path: string): string => join(place.node.root, path)
const write = (path: string, text: string): void => {
  mkdirSync(dirname(inRoot(path)), { recursive: true })
  writeFileSync(inRoot(path), text)
}
const pods = async (...names: string[]): Promise<void> => {
  for (const name of names) await place.node.add({ name, namespace: 'payments', uid: `uid-${name}` })
}
const allocations = (answers: NodeAnswers) => value(answers.stores)[0]?.allocations ?? []

test.each(['dash', 'bash'])('P-E3…P-E9: one round trip brings every part, under %s', async shell => {
  const { node, clock } = place
  await pods('a', 'b', 'c')
  await node.add({ name: 'net', namespace: 'kube-system', uid: 'uid-net', hostNetwork: true })
  const from = clock.now() - 15 * day
  await node.leak(6, { between: [from, from + 3_600_000] })
  node.logDelFailures({ between: [from, from + 3_600_000], count: 9 })
  const answers = await look(node, { shell })
  // P-E3
  expect(value(answers.conflist)).toMatchObject({ name: 'k8s-pod-network', ipam: { type: 'host-local' } })
  const [store] = value(answers.stores)
  expect(store).toMatchObject({
    network: 'k8s-pod-network',
    dir: storeDir,
    entries: 11,
    unreadable: [],
    foreign: [],
  })
  expect(store?.bookkeeping.toSorted()).toEqual(['last_reserved_ip.0', 'lock'])
  expect(allocations(answers).map(({ ip, content }) => [ip, content])).toEqual(
    allocations(answers).map(({ ip }) => [ip, readFileSync(inRoot(`${storeDir}/${ip}`), 'utf8')]),
  )
  // P-E4
  expect(value(answers.sandboxes)).toHaveLength(4)
  expect(value(answers.runtime)).toMatchObject({
    name: 'containerd',
    version: '1.7.24',
    endpoint: 'unix:///run/containerd/containerd.sock',
    endpointFrom: '/var/lib/kubelet/config.yaml',
  })
  const owners = new Set([...value(answers.sandboxes).map(({ id }) => id), ...value(answers.records).ids])
  const orphans = allocations(answers).filter(({ owner }) => !owners.has(owner))
  expect(orphans).toHaveLength(6)
  // P-E5
  expect(value(answers.owners).filter(({ known }) => !known)).toHaveLength(5)
  expect(value(answers.owners).filter(({ known }) => known)).toHaveLength(1)
  // P-E7: as far back as the oldest orphan, although the window is two days.
  const journal = value(answers.journal)
  expect(journal.since).toBeLessThanOrEqual(from - 3_600_000 + 1000)
  expect(journal.lines.filter(({ text }) => isDelFailure(text)).length).toBeGreaterThanOrEqual(9)
  expect(journal.lines.filter(({ text }) => isAddSuccess(text))).toHaveLength(4)
  // P-E9
  expect(value(answers.restarts)).toMatchObject({ boots: [value(answers.host).bootedAt] })
  expect(value(answers.restarts).runtime.length).toBeGreaterThan(0)
  // P-A5, rule 7
  expect(value(answers.leftovers)).toMatchObject({ veths: 3, cachedResults: 3 })
  expect(value(answers.held).filter(({ by }) => by === 'namespace')).toHaveLength(3)
})

test('a short look leaves out what only people read, and says so', async () => {
  await pods('a')
  const answers = await look(place.node, { args: ['--light'] })
  for (const part of ['owners', 'journal', 'leftovers'] as const)
    expect(reason(answers[part])).toMatch(/not asked for in a short look/)
  for (const part of [
    'host',
    'conflist',
    'stores',
    'runtime',
    'sandboxes',
    'records',
    'held',
    'restarts',
  ] as const) {
    expect(reason(answers[part])).toBe('known')
  }
})

test('a store of 65,000 files is read in one go', async () => {
  mkdirSync(inRoot(storeDir), { recursive: true })
  const filled = spawnSync(
    'awk',
    [
      'BEGIN { for (i = 0; i < 65000; i++) { f = sprintf("10.%d.%d.%d", 1 + int(i / 65536), int(i / 256) % 256, i % 256); printf "%064x\\r\\neth0", i > f; close(f) } }',
    ],
    { cwd: inRoot(storeDir) },
  )
  expect(filled.status).toBe(0)
  const found = allocations(await look(place.node))
  expect(found).toHaveLength(65_000)
  expect(found[64_999]).toMatchObject({ owner: (64_999).toString(16).padStart(64, '0'), size: 70 })
}, 240_000)

test('an address that something changes while it is read is never half an allocation', async () => {
  let going = true
  const churning = (async () => {
    for (let n = 0; going; n += 1) {
      const sandbox = await place.node.add({ name: `p${n}`, namespace: 'payments', uid: `uid-${n}` })
      await place.node.remove(sandbox.id)
    }
  })()
  try {
    for (let round = 0; round < 5; round += 1) {
      const answers = await look(place.node, { args: ['--light'] })
      for (const { owner, content, size } of allocations(answers)) {
        expect(owner === '' || owner.length === 64).toBe(true)
        expect(content).toHaveLength(size)
      }
      expect(value(answers.stores)[0]?.unreadable ?? []).toEqual([])
    }
  } finally {
    going = false
    await churning
  }
})

describe('other runtimes and layouts', () => {
  const endpointOf = async (): Promise<string> => {
    const ran = await run(
      ['dash', '-s', '--', '--light', '--timeout', '2'],
      probeScript(),
      environment(place.node),
    )
    const at = ran.stdout.indexOf(' endpoint ')
    return (
      ran.stdout.slice(at + 10, ran.stdout.indexOf('\n', at)) +
      ran.stdout.slice(ran.stdout.indexOf('\n from ', at) + 6).split('\n')[0]
    )
  }
  test.each<[string, Record<string, string>, string]>([
    [
      'the kubelet’s command line wins over its file',
      {
        'proc/4711/comm': 'kubelet\n',
        'proc/4711/cmdline':
          '/usr/bin/kubelet\0--config=/var/lib/kubelet/config.yaml\0--container-runtime-endpoint=unix:///run/crio/crio.sock\0',
      },
      "unix:///run/crio/crio.sock the kubelet's command line",
    ],
    [
      'kubeadm’s flags',
      {
        'var/lib/kubelet/kubeadm-flags.env':
          'KUBELET_KUBEADM_ARGS="--container-runtime-endpoint=unix:///var/run/cri-dockerd.sock --pod-infra-container-image=x"\n',
        'var/lib/kubelet/config.yaml': '',
      },
      'unix:///var/run/cri-dockerd.sock /var/lib/kubelet/kubeadm-flags.env',
    ],
    [
      'k3s',
      { 'run/k3s/containerd/containerd.sock': '', 'var/lib/kubelet/config.yaml': '' },
      'unix:///run/k3s/containerd/containerd.sock a known default path',
    ],
    [
      'a path without a scheme',
      { 'var/lib/kubelet/config.yaml': "containerRuntimeEndpoint: '/run/crio/crio.sock'\n" },
      'unix:///run/crio/crio.sock /var/lib/kubelet/config.yaml',
    ],
    [
      'nothing is evaluated',
      { 'var/lib/kubelet/config.yaml': 'containerRuntimeEndpoint: unix:///run/$(touch /tmp/cnibot-evil)\n' },
      ' /var/lib/kubelet/config.yaml',
    ],
  ])('%s', async (_, files, expected) => {
    for (const pid of readdirSync(inRoot('/proc')).filter(name => /^\d+$/.test(name)))
      rmSync(inRoot(`/proc/${pid}`), { recursive: true })
    for (const [path, text] of Object.entries(files)) write(path, text)
    expect(await endpointOf()).toBe(expected)
    expect(existsSync('/tmp/cnibot-evil')).toBe(false)
  })

  test('RKE2 keeps its logs in files and its records behind its own socket', async () => {
    rmSync(inRoot('/run/containerd'), { recursive: true })
    write('/run/k3s/containerd/containerd.sock', '')
    write('/var/lib/rancher/rke2/agent/logs/kubelet.log', 'I1104 11:00:00.000000 1 x.go:1] hello\n')
    const time = new Date(place.clock.now() - 60_000).toISOString()
    write(
      '/var/lib/rancher/rke2/agent/containerd/containerd.log',
      `time="${time}" level=error msg="Failed to destroy network for sandbox \\"a\\"" error="x"\n`,
    )
    const { journal } = await look(place.node)
    expect(value(journal).lines).toMatchObject([
      { unit: '/var/lib/rancher/rke2/agent/containerd/containerd.log' },
    ])
  })
})
