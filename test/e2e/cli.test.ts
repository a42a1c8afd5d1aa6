import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { brokenNode, loadTest, small, startWorkloads } from '../lab/story.js'
import type { World } from '../lab/world.js'
import { diagnosed, openWorld, quiet } from './lab.js'
import { cnibot, type Ended, without } from './run.js'

let world: World
let kubeconfig = ''
let printed: Ended

const env = (): Record<string, string> => without(world.env('cli'), 'CNIBOT_KUBECONFIG')
const diagnose = (...more: string[]): Promise<Ended> =>
  cnibot(['diagnose', brokenNode, '--kubeconfig', kubeconfig, ...more], env())

const written = (name: string, text: string): string => {
  const path = join(world.dir, name)
  writeFileSync(path, text)
  return path
}

/** Nothing that opens a door is printed, whatever happens. */
const noSecrets = ({ stdout, stderr }: Ended): void => {
  for (const secret of [
    world.api.token,
    'PRIVATE KEY',
    readFileSync(world.nodes.readIdentity, 'utf8').slice(60, 90),
  ])
    expect(stdout + stderr).not.toContain(secret)
}

beforeAll(async () => {
  world = await openWorld(small.nodes)
  kubeconfig = join(world.dir, 'kubeconfig')
  await loadTest(world, quiet, small)
  await startWorkloads(world, quiet, small)
  printed = await diagnose()
}, 600_000)
afterAll(() => world?.stop(), 120_000)

test('must-show 6: evidence and verdict at a terminal, with neither Slack nor Redis', () => {
  expect(Object.keys(env()).filter(name => /SLACK|REDIS/.test(name))).toEqual([])
  const { code, stdout, stderr } = printed
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(stdout).toMatch(/^node-07 · prod-eu1 · Tue 10:\d\d · one read-only connection, /)
  for (const label of ['Addresses', 'Sandboxes', 'Error', 'Conditions', 'Pods', 'DaemonSets', 'Restarts'])
    expect(stdout).toMatch(new RegExp(`^${label}: `, 'm'))
  expect(stdout).toMatch(/^node-07 +253 of 253 +12 +243$/m)
  expect(stdout).toMatch(/^243 addresses leaked on node-07, none left · sure$/m)
  // Marks of Slack and colours are for other places.
  for (const mark of ['*', '`', '\u001b']) expect(stdout).not.toContain(mark)
  noSecrets(printed)
})

test('must-show 6: the words are those of the thread', async () => {
  await Promise.all([world.start('bot'), world.start('worker')])
  const { evidence, verdict } = await diagnosed(world, brokenNode)
  const plain = (text: string): string[] =>
    text
      .replaceAll(/[*`]/g, '')
      .replaceAll('&lt;', '<')
      .replaceAll('&gt;', '>')
      .replaceAll('&amp;', '&')
      .split('\n')
      .map(line => line.trim().replaceAll(/ {2,}/g, '  '))
  const inSlack = new Set([...plain(evidence), ...plain(verdict)])
  const [, ...atTerminal] = plain(printed.stdout).filter(line => line !== '')
  expect(atTerminal.filter(line => !inSlack.has(line))).toEqual([])
  expect(atTerminal.length).toBeGreaterThan(35)
}, 600_000)

test('must-show 6: --json prints the bundle and the verdict, and nothing else', async () => {
  const asJson = await diagnose('--json')
  expect(asJson).toMatchObject({ code: 0, stderr: '' })
  const { bundle, verdict, ...rest } = JSON.parse(asJson.stdout) as Record<string, Record<string, unknown>>
  expect(rest).toEqual({})
  expect(bundle).toMatchObject({
    cluster: 'prod-eu1',
    node: brokenNode,
    shown: 'timeout -k 5 120 /bin/sh -s --',
    conflist: { value: { name: 'k8s-pod-network' } },
  })
  expect(verdict).toMatchObject({ cause: 'ipam-leak', sure: 'high', runbooks: expect.anything() })
  expect(printed.stdout).toContain(String(verdict?.headline))
  noSecrets(asJson)
})

test('an unknown node, a missing kubeconfig and a wrong path: one line each, exit code 2', async () => {
  const unknown = await cnibot(['diagnose', 'node-7', '--kubeconfig', kubeconfig], env())
  expect(unknown).toEqual({
    code: 2,
    stdout: '',
    stderr:
      'cnibot: no node node-7 in this cluster; did you mean node-07? It has node-04, node-07, node-11, node-15\n',
  })
  const missing = await cnibot(['diagnose', brokenNode, '--kubeconfig', '/nonexistent/config'], env())
  expect(missing).toMatchObject({ code: 2, stdout: '' })
  expect(missing.stderr).toMatch(/^cnibot: kubeconfig \/nonexistent\/config cannot be read: .*\n$/)
  const relative = await cnibot(['diagnose', brokenNode, '--kubeconfig', 'config'], env())
  expect(relative).toMatchObject({ code: 2, stdout: '' })
  expect(relative.stderr).toMatch(/CNIBOT_KUBECONFIG is "config"; it must be an absolute path\n$/)
}, 600_000)

test.each<[string, () => string[], RegExp]>([
  [
    'a host key that is not the pinned one',
    () => {
      const { port } = world.nodes.node(brokenNode)
      const { hostKey } = world.nodes.node('node-11')
      return ['--known-hosts', written('wrong-key', `[127.0.0.1]:${port} ${hostKey}\n`)]
    },
    /node-07 \(127\.0\.0\.1:\d+\): its host key SHA256:\S+ is not the pinned one \(SHA256:\S+ in line 1 of \S+wrong-key\); if the node was set up anew, check the key/,
  ],
  [
    'a node whose key is not pinned',
    () => ['--known-hosts', written('no-keys', '')],
    /no host key of node-07 \(\[127\.0\.0\.1\]:\d+\) is in \S+no-keys; compare what `ssh-keyscan/,
  ],
  [
    'no key file',
    () => ['--ssh-key', '/nonexistent/key'],
    /the private key \/nonexistent\/key cannot be read \(ENOENT\): check the path and its permissions/,
  ],
])('%s: said in one line, never as zero, exit code 1', async (_what, flags, says) => {
  const ended = await diagnose(...flags())
  expect(ended).toMatchObject({ code: 1, stderr: '' })
  const [first, , unknown] = ended.stdout.split('\n')
  expect(first).toMatch(/the node was not reached$/)
  expect(unknown).toMatch(/^Addresses, Sandboxes, .*: not known: /)
  expect(unknown).toMatch(says)
  expect(ended.stdout).toMatch(/^node-07 could not be asked · unsure$/m)
  expect(ended.stdout).toMatch(/^Conditions: Ready=True/m)
  expect(ended.stdout).not.toMatch(/0 without a sandbox|no orphans/)
  noSecrets(ended)
})
