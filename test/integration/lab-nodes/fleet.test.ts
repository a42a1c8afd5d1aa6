import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { expect, test } from '@jest/globals'
import ssh2 from 'ssh2'
import { pluginFolder } from '../../lab/nodes/host-local.js'
import { newKey } from '../../lab/nodes/keys.js'
import { sshdProgram } from '../../lab/nodes/sshd.js'
import { connect, exec, pod, startTestLab } from './ssh.js'

const names = Array.from({ length: 18 }, (_, index) => `node-${String(index + 1).padStart(2, '0')}`)

/** Processes whose command line names the lab's folder. */
const processes = (dir: string): string[] =>
  execFileSync('ps', ['-eo', 'pid,args'], { encoding: 'utf8' })
    .split('\n')
    .filter(line => line.includes(dir))

test('the programs the lab needs are installed', () => {
  expect(`${sshdProgram}: ${existsSync(sshdProgram) ? 'there' : 'apt-get install openssh-server'}`).toBe(
    `${sshdProgram}: there`,
  )
  expect(pluginFolder).not.toThrow()
})

test('a machine without host-local is told which package to install', () => {
  expect(() => pluginFolder(['/nonexistent'])).toThrow('apt-get install containernetworking-plugins')
})

test('every generated key is whole, those with a leading zero byte too', () => {
  for (let count = 0; count < 600; count += 1) {
    const key = newKey('lab')
    const parsed = ssh2.utils.parseKey(key.private)
    if (parsed instanceof Error) throw parsed
    expect(`${parsed.type} ${parsed.getPublicSSH().toString('base64')}`).toBe(key.public)
    expect(parsed.getPublicSSH()).toHaveLength(51)
  }
})

test('18 nodes with addresses of their own start, answer at once and leave no process behind', async () => {
  const lab = await startTestLab(names)
  const dir = lab.nodes.knownHosts.replace(/\/known_hosts$/, '')
  expect(processes(dir).length).toBeGreaterThanOrEqual(18)
  await Promise.all([...lab.nodes.nodes.values()].map(node => node.add(pod('api'))))
  const answers = await Promise.all(names.map(name => lab.run(name, 'hostname; crictl pods -q | wc -l')))
  expect(answers).toEqual(names.map(name => `${name}\n1\n`))
  const addresses = [...lab.nodes.nodes.values()].map(node => node.allocations()[0]?.address)
  expect(new Set(addresses).size).toBe(18)

  // A session that still runs a command when the lab ends: it and its command end, too.
  const client = await connect(lab.nodes, lab.nodes.node('node-07'))
  client.on('error', () => undefined)
  exec(client, 'exec tail -f "$CNIBOT_NODE_ROOT/etc/hostname"').catch(() => undefined)
  const deadline = Date.now() + 10_000
  while (Date.now() < deadline && !processes(dir).some(line => line.includes('tail -f'))) {
    await new Promise(resolve => setImmediate(resolve))
  }
  const running = processes(dir).filter(line => line.includes('tail -f'))
  await lab.close()
  client.end()
  expect(running).toHaveLength(1)
  expect(processes(dir)).toEqual([])
})
