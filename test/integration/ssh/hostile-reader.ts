/**
 * Asks one node as the worker does, in a process of its own, so that its memory can be measured.
 *   node hostile-reader.js SETTINGS-AS-JSON; prints what came of it as one line of JSON.
 */
import { createNodeShell, type SshSettings } from '../../../src/adapters/ssh/node-shell.js'
import { readNodeAnswers } from '../../../src/core/evidence/parse/answers.js'
import { type Answer, isKnown } from '../../../src/core/evidence/bundle.js'
import { probeLimits } from '../../../src/ssh-settings.js'

export interface Asked {
  settings: Omit<SshSettings, 'nodeAddresses'>
  port: number
  timeoutMs: number
}
export interface Read {
  timedOut: boolean
  truncated: boolean
  bytes: number
  /** Parts that are known after all, and one reason of those that are not. */
  known: string[]
  reason: string
  /** Highest resident memory of this process, in MB, before the node was asked and at the end. */
  before: number
  peak: number
}

const { settings, port, timeoutMs }: Asked = JSON.parse(process.argv[2] ?? '')
const resident = (): number => Math.round(process.resourceUsage().maxRSS / 1024)

const shell = createNodeShell({
  ...settings,
  nodeAddresses: new Map([['node-07', { host: '127.0.0.1', port }]]),
})
const before = resident()
const at = Date.now()
const target = { name: 'node-07', address: '127.0.0.1' }
const result = await shell.run(
  target,
  { script: 'probe', args: [] },
  { timeoutMs, maxBytes: probeLimits.probeMaxBytes },
)
const answers: [string, Answer<unknown>][] = Object.entries(readNodeAnswers(result, { at, now: Date.now() }))
await shell.close()
const read: Read = {
  timedOut: result.timedOut,
  truncated: result.truncated,
  bytes: Buffer.byteLength(result.stdout),
  known: answers.filter(([, answer]) => isKnown(answer)).map(([name]) => name),
  reason: answers.map(([, answer]) => (isKnown(answer) ? '' : answer.reason)).find(why => why !== '') ?? '',
  before,
  peak: resident(),
}
process.stdout.write(JSON.stringify(read))
