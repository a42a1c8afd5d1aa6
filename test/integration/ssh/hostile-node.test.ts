import { execFile, execFileSync } from 'node:child_process'
import { existsSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { onePlace, type Place } from '../node/on-node.js'
import type { Asked, Read } from './hostile-reader.js'

const root = join(import.meta.dirname, '../../..')
const run = promisify(execFile)
/** What the chart gives the worker, in MB. */
const limit = 512

let place: Place
let reader: string
beforeAll(async () => {
  place = await onePlace()
  reader = join(place.dir, 'hostile-reader.mjs')
  // What it finds beside itself: the packages, and the scripts that it would send.
  symlinkSync(join(root, 'node_modules'), join(place.dir, 'node_modules'))
  for (const script of ['probe.sh', 'probe-runtime.sh', 'probe-journal.sh', 'remove-orphans.sh'])
    symlinkSync(join(root, 'src/adapters/ssh', script), join(place.dir, script))
  const source = join(import.meta.dirname, 'hostile-reader.ts')
  const options = ['--bundle', '--platform=node', '--format=esm', '--packages=external', '--log-level=error']
  execFileSync(join(root, 'node_modules/.bin/esbuild'), [source, ...options, `--outfile=${reader}`])
})
afterAll(() => place.close())

/** A worker's process asks the node, which runs this program instead of the probe. */
const ask = async (program: string, timeoutMs = 60_000): Promise<Read> => {
  const asked: Asked = {
    settings: {
      readUser: place.lab.user,
      readKeyFile: place.lab.readIdentity,
      knownHostsFile: place.lab.knownHosts,
      probeCommand: ['/bin/sh', '-c', program, '--'],
    },
    port: place.node.port,
    timeoutMs,
  }
  const argv = [`--max-old-space-size=${(limit * 3) / 4}`, reader, JSON.stringify(asked)]
  const { stdout } = await run(process.execPath, argv)
  return JSON.parse(stdout) as Read
}
/** A section of the probe around what a program prints. */
const section = (name: string, body: string): string =>
  `printf '>${name} 1796052325.5\\n'; ${body}; printf '\\n=0 \\n>end 1796052326\\n'`
const letters = (letter: string, count: number): string => `head -c ${count} /dev/zero | tr '\\0' '${letter}'`

describe('B6: a node that answers with gigabytes costs the worker no more memory than it has:', () => {
  const floods: [string, string][] = [
    ['lines', 'exec yes'],
    ['NULs', 'exec cat /dev/zero'],
    ['bytes that are no text', 'exec cat /dev/urandom'],
    ['terminal sequences', `exec yes "$(printf '\\033]8;;http://evil\\033[31m')"`],
    ['frames', `exec yes "$(printf '>a 1\\n=0 ')"`],
  ]
  test.each(floods)('%s', async (_what, program) => {
    const { truncated, bytes, known, reason, peak } = await ask(program)
    expect({ truncated, known }).toEqual({ truncated: true, known: [] })
    expect(reason).toMatch(/the answer was cut before this part arrived|more lines than a node can need/)
    // Bytes that are no UTF-8 become three of it each.
    expect(bytes).toBeLessThanOrEqual(3 * 16 * 1024 * 1024)
    expect(peak).toBeLessThan(limit)
  })

  test('errors', async () => {
    const { timedOut, known, peak } = await ask('cat /dev/zero >&2', 4_000)
    expect({ timedOut, known }).toEqual({ timedOut: true, known: [] })
    expect(peak).toBeLessThan(limit)
  })
})

describe('B6: a node that lies within the cap costs no more memory either:', () => {
  const lies: [string, string, RegExp][] = [
    ['brackets', section('sandboxes', `printf ' '; ${letters('[', 8_000_000)}`), /./],
    [
      'objects',
      section('sandboxes', `printf ' {"items":['; yes '{},' | head -n 4000000 | tr -d '\\n'; printf '{}]}'`),
      /./,
    ],
    [
      'lines of a journal',
      section('journal', `printf ' window 1 9999999999\\n'; yes ' a\tb' | head -c 15000000`),
      /./,
    ],
    [
      'files',
      section('stores', `printf ' @/x/y\\0'; yes 'rf 1 0 1.1 a' | head -n 1200000 | tr '\\n' '\\0'`),
      /./,
    ],
  ]
  test.each(lies)('%s', async (_what, program) => {
    const { truncated, known, peak, before } = await ask(program)
    expect({ truncated, known }).toEqual({ truncated: false, known: [] })
    expect(peak).toBeLessThan(limit)
    expect(before).toBeGreaterThan(0)
  })
})

test('B6: a node that never ends, and does not heed the signal to, is left at the deadline', async () => {
  const pid = join(place.dir, 'deaf.pid')
  const program = `trap '' TERM HUP PIPE; echo $$ > ${pid}; while :; do echo x 2>&-; sleep 0.1; done`
  const { timedOut, known, reason } = await ask(program, 1_500)
  expect({ timedOut, known }).toEqual({ timedOut: true, known: [] })
  expect(reason).toMatch(/did not finish answering in time/)
  const number = readFileSync(pid, 'utf8').trim()
  // The limit on the node would end it by force after 125 s; the test need not wait for that.
  if (existsSync(`/proc/${number}`)) process.kill(Number(number), 'SIGKILL')
})
