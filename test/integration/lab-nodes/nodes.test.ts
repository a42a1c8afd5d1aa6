import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { SandboxError } from '../../lab/nodes/index.js'
import { connect, pod, startTestLab, storyTime, type TestLab } from './ssh.js'

let lab: TestLab
beforeAll(async () => {
  lab = await startTestLab(['node-07', 'node-08'])
})
afterAll(() => lab.close())

const store = (name: string) => join(lab.nodes.node(name).root, 'var/lib/cni/networks/k8s-pod-network')

describe('a lab node', () => {
  test('runs commands over SSH in its own environment, quickly and without a profile', async () => {
    const node = lab.nodes.node('node-07')
    const out = await lab.output('node-07', 'echo "$CNIBOT_NODE_ROOT"; hostname; command -v crictl; exit 7')
    expect(out).toMatchObject({ code: 7, stderr: '' })
    const [root, name, crictl] = out.stdout.split('\n')
    expect([root, name]).toEqual([node.root, 'node-07'])
    expect(crictl).toMatch(/lab\/nodes\/bin\/crictl$/)
  })

  test('is refused by a client that expects another host key', async () => {
    const node = lab.nodes.node('node-07')
    const other = lab.nodes.node('node-08').hostKey
    await expect(connect(lab.nodes, node, other)).rejects.toThrow(/host/i)
  })

  test('gives a Pod an address with the real plugin, and takes it back', async () => {
    const node = lab.nodes.node('node-07')
    const sandbox = await node.add(pod('api-1'))
    const address = sandbox.network?.address ?? ''
    const file = join(store('node-07'), address)
    expect(readFileSync(file, 'utf8')).toBe(`${sandbox.id}\r\neth0`)
    expect(readdirSync(store('node-07')).toSorted()).toEqual(
      [address, 'last_reserved_ip.0', 'lock'].toSorted(),
    )
    expect(node.allocations()[0]?.modified).toBeGreaterThanOrEqual(storyTime)
    expect(node.allocations()[0]?.modified).toBeLessThan(storyTime + 600_000)
    expect(await lab.run('node-07', 'crictl pods -q; ctr -n k8s.io containers ls -q')).toContain(sandbox.id)
    await node.finish(sandbox.id)
    expect(existsSync(file)).toBe(false)
    const line = await lab.run('node-07', 'crictl pods --no-trunc')
    expect(line).toContain('NotReady')
    await node.remove(sandbox.id)
    expect(await lab.run('node-07', 'crictl pods -q')).toBe('')
  })

  test('gives nothing to a sandbox on the host network, which is listed all the same (P-E4)', async () => {
    const node = lab.nodes.node('node-07')
    const sandbox = await node.add(pod('exporter', { hostNetwork: true }))
    expect(node.allocations()).toEqual([])
    const shown = JSON.parse(
      await lab.run('node-07', `crictl inspectp -o json ${sandbox.id.slice(0, 13)}`),
    ) as {
      status: { id: string; network: { ip: string }; linux: { namespaces: { options: { network: string } } } }
    }
    expect(shown.status.id).toBe(sandbox.id)
    expect(shown.status.network.ip).toBe('')
    expect(shown.status.linux.namespaces.options.network).toBe('NODE')
    await node.remove(sandbox.id)
  })

  test('has an address file and a runtime record before the sandbox is listed', async () => {
    const node = lab.nodes.node('node-08')
    const release = node.holdListing()
    const pending = node.add(pod('slow'))
    // The plugin makes the file first and writes the owner into it a moment later.
    await until(() => Boolean(node.allocations()[0]?.owner))
    const owner = node.allocations()[0]?.owner ?? ''
    expect(await lab.run('node-08', 'crictl pods -q')).toBe('')
    expect(await lab.run('node-08', 'ctr -n k8s.io containers ls -q')).toContain(owner)
    release()
    const sandbox = await pending
    expect(await lab.run('node-08', 'crictl pods -q')).toBe(`${owner}\n`)
    expect(sandbox.id).toBe(owner)
    await node.remove(sandbox.id)
  })
})

describe('a range', () => {
  test('is full at 253 addresses, and the next ADD fails in the real words (P-E3, C4)', async () => {
    const node = lab.nodes.node('node-07')
    const before = lab.clock.now() - 86_400_000
    const leaked = await node.leak(253, { between: [before, before + 3_600_000] })
    expect(new Set(leaked.map(file => file.address)).size).toBe(253)
    expect(leaked.map(file => file.address)).not.toContain('10.244.7.1')
    expect(node.orphans()).toHaveLength(253)
    const times = node.orphans().map(file => file.modified)
    expect([Math.min(...times), Math.max(...times)]).toEqual([before, before + 3_600_000])
    expect(
      await lab.run('node-07', 'ls "$CNIBOT_NODE_ROOT/var/lib/cni/networks/k8s-pod-network" | wc -l'),
    ).toBe('255\n')
    await expect(node.leak(2)).rejects.toThrow('no IP addresses available in range set')
    const failed = await node.add(pod('stuck')).catch((error: unknown) => error)
    expect(failed).toBeInstanceOf(SandboxError)
    const { message, sandboxId } = failed as SandboxError
    expect(message).toBe(
      `rpc error: code = Unknown desc = failed to setup network for sandbox "${sandboxId}": plugin type="bridge" failed (add): failed to allocate for range 0: no IP addresses available in range set: 10.244.7.1-10.244.7.254`,
    )
    expect(await lab.run('node-07', 'crictl pods -q; ctr -n k8s.io containers ls -q')).toBe('')
    const journal = await lab.run('node-07', 'journalctl -u containerd -o cat --no-pager -n 1')
    expect(journal).toContain(`level=error msg="RunPodSandbox for &PodSandboxMetadata{Name:stuck,`)
    expect(journal).toContain('no IP addresses available in range set: 10.244.7.1-10.244.7.254')
  })
})

const until = async (holds: () => boolean): Promise<void> => {
  const deadline = Date.now() + 10_000
  while (!holds()) {
    if (Date.now() > deadline) throw new Error('the condition did not hold within 10 s')
    await new Promise(resolve => setImmediate(resolve))
  }
}
