import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import type { LabNode } from '../../lab/nodes/index.js'
import { connect, exec, pod, startTestLab, type TestLab } from './ssh.js'

let lab: TestLab
let node: LabNode
beforeAll(async () => {
  lab = await startTestLab(['node-07'], { podCidr: () => '10.244.7.0/28' })
  node = lab.nodes.node('node-07')
  await node.add(pod('api-1'))
})
afterAll(() => lab.close())

const store = '"$CNIBOT_NODE_ROOT/var/lib/cni/networks/k8s-pod-network"'
const on = (command: string) => lab.output('node-07', command)

describe('a runtime', () => {
  test('that is down answers crictl and ctr with an error, and the unit is not active', async () => {
    node.switches.runtimeDown(true)
    const pods = await on('crictl pods -q')
    expect(pods).toMatchObject({ code: 1, stdout: '' })
    expect(pods.stderr).toMatch(
      /^time="[^"]+" level=error msg="validate service connection: .*dial unix \/run\/containerd\/containerd\.sock: connect: connection refused\\""\n$/,
    )
    expect((await on('ctr -n k8s.io containers ls -q')).stderr).toMatch(
      /^ctr: failed to dial "\/run\/containerd/,
    )
    expect((await on('systemctl is-active containerd')).stdout).toBe('failed\n')
    await expect(node.add(pod('late'))).rejects.toThrow('code = Unavailable desc = connection error')
    node.switches.runtimeDown(false)
  })

  test('that hangs ends in the deadline the caller set', async () => {
    node.switches.runtime('hang')
    const out = await on('crictl -t 1s pods -q')
    expect(out).toMatchObject({ code: 1, stdout: '' })
    expect(out.stderr).toContain('code = DeadlineExceeded desc = context deadline exceeded')
    node.switches.runtime('up')
  })

  test('that is frozen ends only with the caller’s own limit', async () => {
    node.switches.runtime('freeze')
    expect(await on('timeout -k 1 1 crictl pods -q')).toMatchObject({ code: 124, stdout: '' })
    node.switches.runtime('up')
  })

  test('of something else on the node answers with an empty list, a missing one with an error', async () => {
    node.switches.otherRuntime('/run/docker/containerd/containerd.sock')
    const other = 'crictl -r unix:///run/docker/containerd/containerd.sock'
    expect(await on(`${other} pods -q`)).toMatchObject({ code: 0, stdout: '' })
    expect(await on(`${other} pods -o json`)).toMatchObject({ code: 0, stdout: '{\n  "items": []\n}\n' })
    const missing = await on('crictl -r unix:///run/crio/crio.sock pods')
    expect(missing.code).toBe(1)
    expect(missing.stderr).toContain('no such file or directory')
  })
})

describe('a node', () => {
  test('that refuses sudo says so as sudo does', async () => {
    expect((await on('sudo -n hostname')).stdout).toBe('node-07\n')
    node.switches.sudoRefused(true)
    expect(await on('sudo -n hostname')).toMatchObject({ code: 1, stderr: 'sudo: a password is required\n' })
    node.switches.sudoRefused(false)
  })

  test('with an unreadable store shows it to nobody, not even root', async () => {
    node.switches.storeUnreadable(true)
    expect((await on(`ls ${store}/`)).code).not.toBe(0)
    node.switches.storeUnreadable(false)
    expect((await on(`ls ${store} | wc -l`)).stdout).toBe('3\n')
  })

  test('with a broken conflist can neither add nor free; the repaired one frees again', async () => {
    const [sandbox] = node.sandboxes()
    node.switches.conflistBroken(true)
    await expect(node.add(pod('late'))).rejects.toThrow(
      /failed to setup network .*: cni plugin not initialized$/,
    )
    await expect(node.stop(sandbox?.id ?? '')).rejects.toThrow(
      /failed to destroy network .*cni plugin not initialized$/,
    )
    node.switches.conflistBroken(false)
    expect(node.allocations()).toHaveLength(1)
    await node.remove(sandbox?.id ?? '')
    expect(node.allocations()).toEqual([])
  })

  test('with two conflists goes by the first name', async () => {
    node.switches.extraConflist('99-leftover.conflist', 'cbr0')
    await node.add(pod('api-2'))
    expect(node.allocations()).toHaveLength(1)
    expect((await on('ls "$CNIBOT_NODE_ROOT"/var/lib/cni/networks')).stdout).toBe('k8s-pod-network\n')
  })

  test('keeps an empty address file for ever: no DEL matches it', async () => {
    const address = node.switches.emptyAllocationFile('10.244.7.12')
    const [sandbox] = node.sandboxes()
    await node.remove(sandbox?.id ?? '')
    expect(node.allocations()).toMatchObject([{ address, owner: '' }])
    expect((await on(`rm ${store}/${address}`)).code).toBe(0)
  })

  test('with megabytes of journal still answers for a window of it', async () => {
    node.switches.journalHuge(5_000_000)
    const bytes = Number((await on('journalctl -u containerd -o json | wc -c')).stdout)
    expect(bytes).toBeGreaterThan(5_000_000)
    const since = Math.floor(lab.clock.now() / 1000) - 3600
    const lines = Number((await on(`journalctl -u containerd --since @${since} -o cat | wc -l`)).stdout)
    expect(lines).toBeGreaterThan(100)
    expect(lines).toBeLessThan(1200)
  })

  test('whose journal was cut no longer tells of what was before (P-E7)', async () => {
    const cut = lab.clock.now() - 1_800_000
    node.journal.vacuum('containerd', cut)
    const oldest = (await on('journalctl -u containerd -o short-unix -q | head -n 1')).stdout
    expect(Number.parseFloat(oldest)).toBeGreaterThanOrEqual(Math.floor(cut / 1000))
  })

  test('whose chain lacks a plugin leaks one address for each try, in the real words', async () => {
    const plugins = [
      { type: 'bridge', ipam: { type: 'host-local', ranges: [[{ subnet: '10.244.7.0/28' }]] } },
      { type: 'nosuch' },
    ]
    node.switches.setConflist(JSON.stringify({ cniVersion: '1.0.0', name: 'k8s-pod-network', plugins }))
    for (const name of ['try-1', 'try-2', 'try-3']) {
      await expect(node.add(pod(name))).rejects.toThrow('failed to find plugin "nosuch" in path')
    }
    expect(node.sandboxes()).toEqual([])
    expect(node.orphans()).toHaveLength(3)
    const said = (await on('journalctl -u containerd -o cat -g "Failed to destroy network for sandbox"'))
      .stdout
    expect(said.trim().split('\n')).toHaveLength(3)
  })

  test('shows a band of DEL failures in both journals (P-E7)', async () => {
    const end = lab.clock.now() - 7_200_000
    node.logDelFailures({ count: 20, between: [end - 600_000, end] })
    const window = `--since @${Math.floor(end / 1000) - 601} --until @${Math.floor(end / 1000) + 1}`
    const count = async (unit: string) =>
      (await on(`journalctl -u ${unit} ${window} -o cat | grep -c "StopPodSandbox.* failed"`)).stdout
    expect(await count('containerd')).toBe('20\n')
    expect(await count('kubelet')).toBe('20\n')
  })
})

test('the ssh2 server behaves as sshd does, where that is missing', async () => {
  const plain = await startTestLab(['node-01'], { ssh: 'ssh2' })
  try {
    const out = await plain.output('node-01', 'echo "$CNIBOT_NODE_ROOT"; hostname; echo no >&2; exit 3')
    const only = plain.nodes.node('node-01')
    expect(out).toEqual({ stdout: `${only.root}\nnode-01\n`, stderr: 'no\n', code: 3, signal: undefined })
    const client = await connect(plain.nodes, only)
    expect((await exec(client, '/bin/sh -s -- a b', 'echo "$# $2"')).stdout).toBe('2 b\n')
    expect((await exec(client, 'kill -9 $$')).signal).toBe('SIGKILL')
    client.end()
    await expect(connect(plain.nodes, only, node.hostKey)).rejects.toThrow(/host/i)
  } finally {
    await plain.close()
  }
})
