import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import ssh2 from 'ssh2'
import { LabClock } from '../../lab/clock.js'
import { type LabNode, type LabNodes, type StartNodesOptions, startNodes } from '../../lab/nodes/index.js'

export interface Output {
  stdout: string
  stderr: string
  code: number | null
  signal: string | undefined
}

/** One connection to one node; refuses any host key but the node's own. */
export const connect = (nodes: LabNodes, node: LabNode, hostKey = node.hostKey): Promise<ssh2.Client> =>
  new Promise((resolve, reject) => {
    const client = new ssh2.Client()
    client.once('ready', () => resolve(client))
    client.on('error', reject)
    client.connect({
      host: node.address,
      port: node.port,
      username: nodes.user,
      privateKey: readFileSync(nodes.identityFile),
      hostVerifier: (key: Buffer) => key.toString('base64') === hostKey.split(' ')[1],
    })
  })

export const exec = (client: ssh2.Client, command: string, input = ''): Promise<Output> =>
  new Promise((resolve, reject) => {
    client.exec(command, (error, channel) => {
      if (error !== undefined) {
        reject(error)
        return
      }
      let stdout = ''
      let stderr = ''
      channel.on('data', (text: Buffer) => {
        stdout += text.toString()
      })
      channel.stderr.on('data', (text: Buffer) => {
        stderr += text.toString()
      })
      channel.once('close', (code: number | null, signal?: string) => {
        resolve({ stdout, stderr, code: code ?? null, signal })
      })
      channel.end(input)
    })
  })

export interface TestLab {
  clock: LabClock
  nodes: LabNodes
  /** Runs one command on the node, over a connection that is kept. */
  run(name: string, command: string): Promise<string>
  output(name: string, command: string): Promise<Output>
  close(): Promise<void>
}

export const storyTime = Date.parse('2026-11-04T11:30:00Z')

export const startTestLab = async (
  names: string[],
  options: Partial<StartNodesOptions> = {},
): Promise<TestLab> => {
  const dir = mkdtempSync(join(tmpdir(), 'cnibot-nodes-'))
  const clock = new LabClock(join(dir, 'clock'), storyTime)
  const podCidr = (name: string) => `10.244.${Number(name.replace(/\D/g, ''))}.0/24`
  const nodes = await startNodes({ dir, clock, names, podCidr, ...options }).catch((error: unknown) => {
    rmSync(dir, { recursive: true, force: true })
    throw error
  })
  const clients = new Map<string, Promise<ssh2.Client>>()
  const output = async (name: string, command: string): Promise<Output> => {
    const client = clients.get(name) ?? connect(nodes, nodes.node(name))
    clients.set(name, client)
    return exec(await client, command)
  }
  return {
    clock,
    nodes,
    output,
    run: async (name, command) => (await output(name, command)).stdout,
    close: async () => {
      for (const client of clients.values()) (await client).end()
      await nodes.close()
      rmSync(dir, { recursive: true, force: true })
    },
  }
}

/** A Pod of the payments namespace. */
export const pod = (name: string, more: { hostNetwork?: boolean } = {}) => ({
  name,
  namespace: 'payments',
  uid: `uid-${name}`,
  labels: { app: 'api' },
  ...more,
})
