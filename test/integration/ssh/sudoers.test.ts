import { spawnSync } from 'node:child_process'
import { chmodSync, copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { probeScript } from '../../../src/adapters/ssh/scripts.js'
import { unknown } from '../../../src/core/evidence/bundle.js'
import { restoreArgs } from '../../../src/steps/removal-script.js'
import { commandArgs } from '../../../src/steps/remove-orphans.js'
import { leakingNode, now, storeWith } from '../../unit/leaking-node.js'
import { environment, onePlace, type Place, run } from '../node/on-node.js'
import { library, shipped } from './installed-node.js'

const files = ['sudoers.example', 'sudoers-installed.example']
const digest = 'a'.repeat(64)

/** Runs a program of the package sudo; a machine without it is told what to install. */
const sudoProgram = (name: string, args: string[]): { code: number | null; out: string } => {
  const { status, stdout, stderr, error } = spawnSync(name, args, { encoding: 'utf8' })
  if (error !== undefined) throw new Error(`${name} is missing: apt-get install sudo`)
  return { code: status, out: `${stdout}${stderr}` }
}

/** Sudo reads /etc: where a test may have none of its own, nothing would be proved. */
const needOwnEtc = (): void => {
  const { status, stderr, error } = spawnSync('unshare', ['--mount', 'true'], { encoding: 'utf8' })
  if (error !== undefined) throw new Error('unshare is missing: apt-get install util-linux')
  if (status !== 0)
    throw new Error(
      `sudo cannot be asked without an /etc of its own (${stderr.trim()}): run this test as root with CAP_SYS_ADMIN, in a container with --cap-add SYS_ADMIN`,
    )
}

interface Rule {
  user: string
  /** Program, and its arguments as sudoers writes them. */
  program: string
  args: string
}

interface UserSpec {
  User_List: { username?: string }[]
  Cmnd_Specs: { runasusers: { username?: string }[]; Commands: { command?: string }[] }[]
}

/** The rules as sudo itself reads them. */
const rulesOf = (file: string): Rule[] => {
  const { out } = sudoProgram('cvtsudoers', ['-f', 'json', join(shipped, file)])
  const specs: UserSpec[] = JSON.parse(out).User_Specs
  return specs.flatMap(({ User_List: users, Cmnd_Specs: commands }) =>
    users.flatMap(({ username: user = '' }) =>
      commands.flatMap(({ Commands: list }) =>
        list.map(({ command = '' }) => {
          const blank = command.indexOf(' ')
          return blank < 0
            ? { user, program: command, args: '' }
            : { user, program: command.slice(0, blank), args: command.slice(blank + 1) }
        }),
      ),
    ),
  )
}

/** As sudoers(5) says: `""` is no argument, `^…$` an extended regular expression over all of them, else they are equal. */
const lets = (rules: Rule[], user: string, [program, ...words]: string[]): boolean => {
  const asked = words.join(' ')
  return rules.some(rule => {
    if (rule.user !== user || rule.program !== program) return false
    if (rule.args === '""') return words.length === 0
    if (!rule.args.startsWith('^')) return rule.args === asked
    return spawnSync('grep', ['-qE', '--', rule.args], { input: asked }).status === 0
  })
}

/** The command of a step as it is planned, with and without the runtime's records. */
const removal = (node: Place['node'], verb = 'remove'): string[] => {
  const { dir, network } = storeWith([])
  const ctx = { run: { run: 'node-07.12-r2', openedAt: 1_793_792_000_000, bootId: node.bootId }, index: 3 }
  const records = verb === 'restore' ? { records: unknown('ctr: not found', now) } : {}
  const planned = commandArgs(ctx, leakingNode(10, 5, records), { dir, network, lockInode: 4_711 })
  const [, ...args] = verb === 'remove' ? planned : [verb, ...restoreArgs(planned).slice(1)]
  return [`${library}/remove-orphans`, verb, ...args, '--script-digest', digest]
}

let place: Place
beforeAll(async () => {
  place = await onePlace()
  await place.node.add({ name: 'a', namespace: 'payments', uid: 'uid-a' })
  await place.node.leak(2, { between: [place.clock.now() - 86_400_000, place.clock.now()] })
})
afterAll(() => place.close())

test.each(files)('B6: %s passes visudo', file => {
  expect(sudoProgram('visudo', ['-cf', join(shipped, file)])).toEqual({
    code: 0,
    out: `${join(shipped, file)}: parsed OK\n`,
  })
})

test.each(files)('B6: %s keeps the environment of the caller out', file => {
  const text = readFileSync(join(shipped, file), 'utf8')
  expect(text).toMatch(
    /^Defaults:cnibot-probe,cnibot-repair env_reset, !setenv, secure_path="\/usr\/local\/sbin:/m,
  )
  // A missing word after the program would let any argument in.
  expect(rulesOf(file).filter(({ args }) => args === '')).toEqual([])
  expect(rulesOf(file).filter(({ args }) => args.startsWith('^') && !args.endsWith('$'))).toEqual([])
  expect([...new Set(rulesOf(file).map(({ user }) => user))].sort()).toEqual([
    'cnibot-probe',
    'cnibot-repair',
  ])
})

test('B6: everything the probe asks as root is allowed to the reading user, and nothing of it to the other', async () => {
  if (process.getuid?.() !== 0) throw new Error('this test changes to another user: run it as root')
  const bin = mkdtempSync(join(tmpdir(), 'cnibot-sudo-'))
  try {
    chmodSync(bin, 0o755)
    chmodSync(place.dir, 0o755)
    writeFileSync(join(bin, 'asked'), '')
    chmodSync(join(bin, 'asked'), 0o666)
    // Notes what it is asked, argument by argument, and lets it through.
    writeFileSync(
      join(bin, 'sudo'),
      `#!/bin/sh\nshift\n{ for word; do printf '%s\\000' "$word"; done; printf '\\n\\000'; } >>${bin}/asked\nexec "$@"\n`,
      { mode: 0o755 },
    )
    const env = environment(place.node)
    const argv = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups', 'dash', '-s']
    await run(argv, probeScript(), { ...env, PATH: `${bin}:${env.PATH}` })
    const asked = readFileSync(join(bin, 'asked'), 'utf8')
      .split('\n\0')
      .filter(command => command !== '')
      .map(command => command.split('\0').slice(0, -1))
    // Where the lab's node has its own root and its own programs, a real one has neither.
    const paths: Record<string, string> = { ip: '/usr/sbin', iptables: '/usr/sbin' }
    const real = asked.map(([name = '', ...words]) => [
      `${paths[name] ?? '/usr/bin'}/${name}`,
      ...words.map(word => word.replaceAll(place.node.root, '').replace(/^\/run\/netns\//, '')),
    ])
    expect(real.length).toBeGreaterThan(10)
    const rules = rulesOf('sudoers.example')
    expect(real.filter(command => !lets(rules, 'cnibot-probe', command))).toEqual([])
    expect(real.filter(command => lets(rules, 'cnibot-repair', command))).toEqual([])
  } finally {
    rmSync(bin, { recursive: true })
  }
})

describe('B6: what each user may run as root', () => {
  const probe = `${library}/probe`
  const cases: [file: string, user: string, may: boolean, command: (node: Place['node']) => string[]][] = [
    ...files.flatMap((file): [string, string, boolean, (node: Place['node']) => string[]][] => [
      [file, 'cnibot-repair', true, node => removal(node)],
      [file, 'cnibot-repair', true, node => removal(node, 'restore')],
      [file, 'cnibot-repair', false, node => removal(node, 'empty')],
      [file, 'cnibot-repair', false, node => [...removal(node), '--network-dir', '/etc']],
      [
        file,
        'cnibot-repair',
        false,
        node => removal(node).map(word => word.replace('/var/lib/cni/networks', '/etc')),
      ],
      [file, 'cnibot-repair', false, node => removal(node).slice(0, -2)],
      [file, 'cnibot-probe', false, node => removal(node)],
      [file, 'cnibot-probe', false, () => [`${library}/remove-orphans`]],
      [file, 'cnibot-probe', false, () => ['/bin/sh']],
      [file, 'cnibot-repair', false, () => ['/bin/sh']],
      [file, 'cnibot-repair', false, () => ['/usr/sbin/ip', '-j', 'addr']],
      [file, 'cnibot-probe', false, () => ['/usr/sbin/ip', '-n', 'x', 'netns', 'exec', 'sh']],
      [file, 'cnibot-repair', false, () => [probe]],
    ]),
    ['sudoers.example', 'cnibot-repair', true, () => [`${library}/remove-orphans`]],
    ['sudoers.example', 'cnibot-probe', true, () => ['/usr/sbin/ip', '-j', 'addr']],
    ['sudoers-installed.example', 'cnibot-probe', true, () => [probe]],
    ['sudoers-installed.example', 'cnibot-probe', true, () => [probe, '--light']],
    ['sudoers-installed.example', 'cnibot-probe', false, () => [probe, '--timeout', '600']],
    ['sudoers-installed.example', 'cnibot-probe', false, () => ['/usr/sbin/ip', '-j', 'addr']],
  ]
  const named = cases.map(([file, user, may, command]) => ({ file, user, may, command }))

  test.each(['the rules', 'sudo'])('by %s', judge => {
    const byRules = (file: string): string[] =>
      named
        .filter(one => one.file === file)
        .map(({ user, command }) => {
          const argv = command(place.node)
          return `${user} ${lets(rulesOf(file), user, argv) ? 'may' : 'may not'} ${argv.join(' ')}`
        })
    for (const file of files)
      expect(judge === 'sudo' ? askSudo(file) : byRules(file)).toEqual(expectedOf(file))
  })

  const expectedOf = (file: string): string[] =>
    named
      .filter(one => one.file === file)
      .map(({ user, may, command }) => `${user} ${may ? 'may' : 'may not'} ${command(place.node).join(' ')}`)

  /** Sudo with this file in a private /etc that knows both users: `sudo -l` tells whether a command would run. */
  const askSudo = (file: string): string[] => {
    needOwnEtc()
    const dir = mkdtempSync(join(tmpdir(), 'cnibot-etc-'))
    try {
      for (const [name, line] of [
        ['passwd', (user: string, id: number) => `${user}:x:${id}:65534::/nonexistent:/bin/sh\n`],
        ['shadow', (user: string) => `${user}:*:19000::::::\n`],
      ] as const) {
        const users = line('cnibot-probe', 64_991) + line('cnibot-repair', 64_992)
        writeFileSync(join(dir, name), readFileSync(`/etc/${name}`, 'utf8') + users)
      }
      copyFileSync(join(shipped, file), join(dir, 'rules'))
      const asked = named
        .filter(one => one.file === file)
        .map(({ user, command }) => `ask ${user} ${command(place.node).join(' ')}\n`)
      const stubs = ['probe', 'remove-orphans'].map(name => `${library}/${name}`)
      const script = `set -e
mount --bind ${dir}/passwd /etc/passwd
mount --bind ${dir}/shadow /etc/shadow
mount -t tmpfs -o mode=755 none /etc/sudoers.d
install -m 0440 ${dir}/rules /etc/sudoers.d/cnibot
mount -t tmpfs -o mode=755 none /usr/local/lib
mkdir -p ${library}
for stub in ${stubs.join(' ')}; do printf '#!/bin/sh\\n' >$stub; chmod 755 $stub; done
ask() {
  user=$1; shift
  if sudo -n -l -U $user "$@" >/dev/null 2>&1; then echo "$user may $*"; else echo "$user may not $*"; fi
}
${asked.join('')}`
      const { status, stdout, stderr } = spawnSync('unshare', ['--mount', 'sh', '-c', script], {
        encoding: 'utf8',
      })
      if (status !== 0) throw new Error(`sudo could not be asked (apt-get install sudo): ${stderr}`)
      return stdout.trim().split('\n')
    } finally {
      rmSync(dir, { recursive: true })
    }
  }
})
