import { chmodSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { probeScript } from '../../../src/adapters/ssh/scripts.js'
import type { NodeAnswers } from '../../../src/core/evidence/bundle.js'
import { readNodeAnswers } from '../../../src/core/evidence/parse/answers.js'
import { isDelFailure } from '../../../src/core/evidence/parse/journal.js'
import {
  day,
  environment,
  look,
  onePlace,
  type Place,
  programs,
  reason,
  run,
  storeDir,
  value,
  type Ran,
} from './on-node.js'

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
const read = (ran: Ran, at: number): NodeAnswers =>
  readNodeAnswers(
    { ...ran, exitCode: ran.code ?? undefined, timedOut: false, truncated: false },
    { at, now: place.clock.now() },
  )
const allocations = (answers: NodeAnswers) => value(answers.stores)[0]?.allocations ?? []

describe('bad input shows as one clear line and never as zero', () => {
  const bad: [string, () => unknown, keyof NodeAnswers, RegExp][] = [
    [
      'a runtime that is down',
      () => place.node.switches.runtime('down'),
      'sandboxes',
      /^crictl pods: .*connection refused/,
    ],
    ['its records', () => place.node.switches.runtime('down'), 'records', /connection refused/],
    ['its owners', () => place.node.switches.runtime('down'), 'owners', /connection refused/],
    [
      'no crictl',
      () => hide('crictl'),
      'sandboxes',
      /^crictl pods: crictl is not installed on this node; install it there$/,
    ],
    [
      'no journalctl',
      () => hide('journalctl'),
      'journal',
      /journalctl is not installed on this node; install it there$/,
    ],
    ['no ip', () => hide('ip'), 'held', /ip is not installed on this node; install it there$/],
    [
      'an unreadable store',
      () => place.node.switches.storeUnreadable(true),
      'stores',
      /Too many levels of symbolic links$/,
    ],
    [
      'no store',
      () => rmSync(inRoot('/var/lib/cni'), { recursive: true }),
      'stores',
      /\/var\/lib\/cni does not exist$/,
    ],
    [
      'a conflist that is no JSON',
      () => place.node.switches.conflistBroken(true),
      'conflist',
      /10-k8s-pod-network\.conflist: line 1, column \d+ is no JSON; repair or remove the file$/,
    ],
    [
      'no conflist',
      () => rmSync(inRoot('/etc/cni/net.d/10-k8s-pod-network.conflist')),
      'conflist',
      /holds no CNI configuration/,
    ],
    [
      'no folder for it',
      () => rmSync(inRoot('/etc/cni'), { recursive: true }),
      'conflist',
      /\/etc\/cni\/net\.d does not exist$/,
    ],
    ['no boot id', () => rmSync(inRoot('/proc/sys/kernel/random/boot_id')), 'host', /boot_id/],
  ]
  /** A folder of programs with everything a node has but this one. */
  const hide = (name: string): NodeJS.ProcessEnv => {
    const folder = join(place.dir, 'programs')
    mkdirSync(folder)
    for (const from of ['/usr/bin', '/bin', programs]) {
      for (const file of readdirSync(from)) {
        rmSync(join(folder, file), { force: true })
        if (file !== name) symlinkSync(join(from, file), join(folder, file))
      }
    }
    return { PATH: folder }
  }
  test.each(bad)('%s', async (_, spoil, part, line) => {
    await pods('a')
    const env = spoil()
    // Without the last resorts of the script's own PATH, which this machine may have.
    const script = probeScript().replace(/^PATH=.*$/m, '')
    const at = place.clock.now()
    const ran = await run(['dash', '-s'], script, {
      ...environment(place.node),
      ...(isEnvironment(env) ? env : {}),
    })
    const answers = read(ran, at)
    expect(reason(answers[part])).toMatch(line)
    expect(reason(answers[part])).not.toContain('\n')
    const known = Object.values(answers).filter(answer => 'value' in answer)
    expect(known.length).toBeGreaterThanOrEqual(5)
  })
  const isEnvironment = (found: unknown): found is NodeJS.ProcessEnv =>
    typeof found === 'object' && found !== null && 'PATH' in found

  test('a runtime that hangs costs one time limit', async () => {
    await pods('a')
    place.node.switches.runtime('freeze')
    const answers = await look(place.node, { args: ['--timeout', '1'] })
    expect(reason(answers.sandboxes)).toMatch(/no answer within the time limit on the node/)
    expect(reason(answers.stores)).toBe('known')
    expect(reason(answers.journal)).toBe('known')
  })

  test('a wrong endpoint that answers with nothing is not believed', async () => {
    await pods('a')
    place.node.switches.otherRuntime('/run/docker/containerd/containerd.sock')
    write(
      '/var/lib/kubelet/config.yaml',
      'containerRuntimeEndpoint: "unix:///run/docker/containerd/containerd.sock"\n',
    )
    const answers = await look(place.node)
    expect(value(answers.sandboxes)).toEqual([])
    expect(value(answers.runtime).endpoint).toBe('unix:///run/docker/containerd/containerd.sock')
  })

  test('two conflists: the first is read, the other named', async () => {
    place.node.switches.extraConflist()
    expect(value((await look(place.node)).conflist)).toMatchObject({
      name: 'k8s-pod-network',
      others: ['/etc/cni/net.d/99-leftover.conflist'],
    })
  })

  test('an empty allocation file, and names with blanks and newlines', async () => {
    await pods('a')
    place.node.switches.emptyAllocationFile('10.244.7.99', place.clock.now() - day)
    writeFileSync(inRoot(`${storeDir}/odd name`), 'x')
    writeFileSync(inRoot(`${storeDir}/two\nlines`), 'x')
    mkdirSync(inRoot(`${storeDir}/backup`))
    const answers = await look(place.node)
    expect(allocations(answers).find(({ ip }) => ip === '10.244.7.99')).toMatchObject({
      owner: '',
      content: '',
      size: 0,
    })
    expect(
      value(answers.stores)[0]
        ?.foreign.map(({ name }) => name)
        .sort(),
    ).toEqual(['backup', 'odd name', 'two lines'])
  })

  test('a clock that is wrong by hours', async () => {
    place.node.switches.clockSkew(-2 * 3_600_000)
    const before = place.clock.now()
    const answers = await look(place.node)
    expect(value(answers.host).skewMs).toBeLessThan(-7_190_000)
    expect(value(answers.host).skewMs).toBeGreaterThan(-7_210_000)
    expect(answers.sandboxes.at).toBeGreaterThan(before - 5_000)
  })

  test('5 MB of journal: the lines that count arrive, the rest stays on the node', async () => {
    await pods('a')
    place.node.switches.journalHuge(5_000_000)
    place.node.logDelFailures({ between: [place.clock.now() - 3_600_000, place.clock.now()], count: 20 })
    const ran = await run(['dash', '-s'], probeScript(), environment(place.node))
    expect(ran.stdout.length).toBeLessThan(200_000)
    const journal = value((await look(place.node)).journal)
    expect(journal.lines.filter(({ text }) => isDelFailure(text)).length).toBeGreaterThanOrEqual(20)
  })

  test('more DEL failures than fit: first and last are kept, the others counted', async () => {
    place.node.logDelFailures({ between: [place.clock.now() - 3_600_000, place.clock.now()], count: 300 })
    const all = value((await look(place.node)).journal)
    const few = value((await look(place.node, { args: ['--lines', '20'] })).journal)
    const times = all.lines.map(({ at }) => at)
    expect(few.lines.length + few.dropped).toBe(all.lines.length)
    expect(few.lines.length).toBeLessThan(60)
    expect(few.lines[0]?.at).toBe(times[0])
    expect(few.lines.at(-1)?.at).toBe(times.at(-1))
  })
})

test('an ordinary user names what he may not read, and sudo where it refuses', async () => {
  if (process.getuid?.() !== 0) throw new Error('this test changes to another user and needs root')
  await pods('a', 'b')
  for (const name of readdirSync(inRoot(storeDir))) chmodSync(inRoot(`${storeDir}/${name}`), 0o600)
  chmodSync(place.dir, 0o755)
  const asNobody = async (): Promise<NodeAnswers> => {
    const at = place.clock.now()
    const argv = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups', 'dash', '-s']
    const ran = await run(argv, probeScript(), environment(place.node))
    return read(ran, at)
  }
  const closed = await asNobody()
  expect(reason(closed.stores)).toMatch(
    /none of 2 address files could be read: .*Permission denied; the probe needs root there$/,
  )
  expect(reason(closed.sandboxes)).toBe('known')
  place.node.switches.sudoRefused(true)
  const refused = await asNobody()
  expect(reason(refused.stores)).toMatch(
    /sudo: a password is required; allow this command for the probe’s user in sudoers$/,
  )
  expect(reason(refused.sandboxes)).toMatch(/sudo refused on the node \(sudo: a password is required\)/)
  expect(reason(refused.records)).toMatch(/sudo refused on the node/)
  expect(reason(refused.host)).toBe('known')
})
