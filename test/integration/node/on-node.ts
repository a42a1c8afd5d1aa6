import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { probeScript, removeOrphansPath } from '../../../src/adapters/ssh/scripts.js'
import type { Allocation, Answer, NodeAnswers } from '../../../src/core/evidence/bundle.js'
import { isKnown } from '../../../src/core/evidence/bundle.js'
import { readNodeAnswers } from '../../../src/core/evidence/parse/answers.js'
import {
  encodeOrder,
  encodeRemovalList,
  readRemovalReport,
  type RemovalReport,
} from '../../../src/core/evidence/parse/removal-report.js'
import { LabClock } from '../../lab/clock.js'
import { type LabNode, type LabNodes, startNodes } from '../../lab/nodes/index.js'

export const programs = fileURLToPath(new URL('../../lab/nodes/bin', import.meta.url))
export const day = 86_400_000

export interface Place {
  dir: string
  clock: LabClock
  lab: LabNodes
  node: LabNode
  close(): Promise<void>
}

/** A lab of one node, with a real store and doubles of what a machine of its own would run. */
export const onePlace = async (
  options: { podCidr?: string; runtimeVersion?: string } = {},
): Promise<Place> => {
  const dir = mkdtempSync(join(tmpdir(), 'cnibot-node-'))
  const clock = new LabClock(join(dir, 'clock'), Date.parse('2026-11-04T11:30:00Z'))
  const lab = await startNodes({
    dir,
    clock,
    names: ['node-07'],
    podCidr: () => options.podCidr ?? '10.244.7.0/24',
    ...(options.runtimeVersion === undefined ? {} : { runtimeVersion: options.runtimeVersion }),
  })
  const close = async (): Promise<void> => {
    await lab.close()
    rmSync(dir, { recursive: true, force: true })
  }
  return { dir, clock, lab, node: lab.node('node-07'), close }
}

export interface Ran {
  code: number | null
  stdout: string
  stderr: string
}

/** What a login to the node would find in its environment. */
export const environment = (node: LabNode): NodeJS.ProcessEnv => ({
  CNIBOT_NODE_ROOT: node.root,
  CNIBOT_LAB_CLOCK: node.clock.path,
  PATH: `${programs}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin`,
})

export const run = (argv: string[], stdin: string, env: NodeJS.ProcessEnv): Promise<Ran> =>
  new Promise((resolve, reject) => {
    const child = spawn(argv[0] ?? '', argv.slice(1), { env })
    let stdout = ''
    let stderr = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text
    })
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text
    })
    child.once('error', reject)
    child.once('close', code => resolve({ code, stdout, stderr }))
    child.stdin.on('error', () => undefined)
    child.stdin.end(stdin)
  })

export interface Look {
  shell?: string
  args?: string[]
  env?: NodeJS.ProcessEnv
}

/** Runs the probe on the node as its SSH login would and reads the answers. */
export const look = async (
  node: LabNode,
  { shell = 'dash', args = [], env = {} }: Look = {},
): Promise<NodeAnswers> => {
  const at = node.clock.now()
  const ran = await run([shell, '-s', '--', ...args], probeScript(), { ...environment(node), ...env })
  const output = { ...ran, exitCode: ran.code ?? undefined, timedOut: false, truncated: false }
  return readNodeAnswers(output, { at, now: node.clock.now() })
}

/** The value, or a failure that shows the reason. */
export const value = <T>(answer: Answer<T>): T => {
  if (isKnown(answer)) return answer.value
  throw new Error(`no answer: ${answer.reason}`)
}
export const reason = (answer: Answer<unknown>): string => (isKnown(answer) ? 'known' : answer.reason)

export const storeDir = '/var/lib/cni/networks/k8s-pod-network'
export const quarantine = (op: string): string => `/var/lib/cni/cnibot-quarantine/${op}/k8s-pod-network`

export interface Order {
  verb?: 'remove' | 'restore'
  op?: string
  fence?: number
  bootId?: string
  extra?: string[]
  shell?: string
  script?: string
}

export const orderArgs = (node: LabNode, order: Order = {}): string[] => {
  const { verb = 'remove', op = 'run-1', bootId = node.bootId, extra = [] } = order
  const where = ['--network-dir', storeDir, '--quarantine', quarantine(op), '--op', op]
  const what = ['--endpoint', 'unix:///run/containerd/containerd.sock', '--boot-id', bootId]
  return [verb, ...where, ...what, ...extra]
}

/** Runs remove-orphans on the node with an approved list. */
export const order = async (
  node: LabNode,
  approved: Pick<Allocation, 'ip' | 'owner' | 'content' | 'inode' | 'size'>[],
  how: Order = {},
): Promise<Ran & { report: RemovalReport }> => {
  const argv = [how.shell ?? 'dash', how.script ?? removeOrphansPath, ...orderArgs(node, how)]
  const ran = await run(argv, encodeOrder(how.fence ?? 1, encodeRemovalList(approved)), environment(node))
  return { ...ran, report: readRemovalReport(ran.stdout) }
}
