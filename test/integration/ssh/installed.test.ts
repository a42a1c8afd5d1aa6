import { chmodSync, existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { probeDigest, removeOrphansDigest } from '../../../src/adapters/ssh/scripts.js'
import { readNodeAnswers } from '../../../src/core/evidence/parse/answers.js'
import {
  encodeOrder,
  encodeRemovalList,
  readRemovalReport,
} from '../../../src/core/evidence/parse/removal-report.js'
import type { NodeCommand, NodeShell } from '../../../src/ports.js'
import { day, orderArgs, value } from '../node/on-node.js'
import { asStranger, type InstalledNode, library, shellOf, startInstalledNode } from './installed-node.js'

let node: InstalledNode
let shell: NodeShell & { close(): Promise<void> }

beforeAll(async () => {
  node = await startInstalledNode()
  await node.place.node.add({ name: 'a', namespace: 'payments', uid: 'uid-a' })
  await node.place.node.leak(2, {
    between: [node.place.clock.now() - 15 * day, node.place.clock.now() - 14 * day],
  })
})
afterAll(() => node.close())
beforeEach(() => {
  shell = shellOf(node)
})
afterEach(() => shell.close())

const target = { name: 'node-07', address: '127.0.0.1' }
const limits = { timeoutMs: 30_000, maxBytes: 16 * 1024 * 1024 }
const probe: NodeCommand = { script: 'probe', args: ['--light'] }
const look = async () => {
  const at = node.place.clock.now()
  const result = await shell.run(target, probe, limits)
  return { result, answers: readNodeAnswers(result, { at, now: node.place.clock.now() }) }
}
const inTree = (path: string): string => join(node.tree, path)
const mode = (path: string): string => {
  const { uid, mode: bits } = statSync(inTree(path))
  return `${uid} ${(bits & 0o7777).toString(8)}`
}

test('B6: install-node.sh puts everything there as root’s, and prints the digests that the bot asks for', () => {
  expect(node.printed).toBe(`${probeDigest()}  probe\n${removeOrphansDigest()}  remove-orphans\n`)
  for (const script of ['probe', 'remove-orphans', 'dispatch'])
    expect(mode(`${library}/${script}`)).toBe('0 755')
  expect(mode('/etc/sudoers.d/cnibot')).toBe('0 440')
  for (const [user, may, key] of [
    ['cnibot-probe', 'probe', node.readKey],
    ['cnibot-repair', 'remove-orphans', node.repairKey],
  ] as const) {
    const file = `/home/${user}/.ssh/authorized_keys`
    expect(mode(file)).toBe('0 644')
    expect(readFileSync(inTree(file), 'utf8')).toBe(
      `restrict,command="${library}/dispatch ${may}" ${readFileSync(`${key}.pub`, 'utf8')}`,
    )
  }
})

test('B6: the installed probe answers, and the removal runs with the other key although the user is the same', async () => {
  const { result, answers } = await look()
  expect(result).toMatchObject({ exitCode: 0, stderr: '' })
  expect(result.shown).toBe(`probe --light --script-digest ${probeDigest()}`)
  const owners = new Set(value(answers.sandboxes).map(({ id }) => id))
  const orphans = (value(answers.stores)[0]?.allocations ?? []).filter(({ owner }) => !owners.has(owner))
  expect(orphans).toHaveLength(2)
  const order: NodeCommand = {
    script: 'remove-orphans',
    args: orderArgs(node.place.node),
    stdin: encodeOrder(1, encodeRemovalList(orphans)),
  }
  const removed = await shell.run(target, order, limits)
  expect(removed).toMatchObject({ exitCode: 0, stderr: '' })
  expect(readRemovalReport(removed.stdout).moved.sort()).toEqual(orphans.map(({ ip }) => ip).sort())
  const undo = { ...order, args: ['restore', ...order.args.slice(1)], stdin: encodeOrder(2) }
  expect(readRemovalReport((await shell.run(target, undo, limits)).stdout).moved).toHaveLength(2)
})

describe('B6: a key runs its own script in its one form, and nothing else:', () => {
  const digest = 'a'.repeat(64)
  const removal = `remove-orphans remove --network-dir /x --script-digest ${digest}`
  const marker = join(tmpdir(), `cnibot-dispatch-${process.pid}`)
  afterEach(() => expect(existsSync(marker)).toBe(false))

  const asked: ['read' | 'repair', string, string][] = [
    ['read', 'the other script', removal],
    ['read', 'its own and then the other', `probe --script-digest ${digest} ${removal}`],
    ['read', 'an option the form has not', `probe --timeout 5 --script-digest ${digest}`],
    ['read', 'no digest', 'probe --light'],
    ['read', 'a digest that is too short', `probe --light --script-digest ${'a'.repeat(63)}`],
    ['read', 'a digest in capitals', `probe --light --script-digest ${'A'.repeat(64)}`],
    ['read', 'two blanks', `probe --light  --script-digest ${digest}`],
    ['read', 'a second command', `probe --light --script-digest ${digest}; touch ${marker}`],
    ['read', 'a substitution', `probe $(touch ${marker}) --script-digest ${digest}`],
    ['read', 'a second line', `probe --light --script-digest ${digest}\ntouch ${marker}`],
    ['read', 'backquotes', `probe --light --script-digest ${digest} \`touch ${marker}\``],
    ['read', 'a path', `/usr/local/lib/cnibot/../cnibot/probe --script-digest ${digest}`],
    ['read', 'another program', `touch ${marker}`],
    ['read', 'a shell by name', 'sh'],
    ['read', 'a letter beyond ASCII', 'é'],
    ['read', 'twenty thousand letters', 'x'.repeat(20_000)],
    ['repair', 'the other script', `probe --light --script-digest ${digest}`],
    ['repair', 'another verb', `remove-orphans empty --network-dir /x --script-digest ${digest}`],
    ['repair', 'a word instead of an option', `remove-orphans remove /x --script-digest ${digest}`],
    ['repair', 'no digest', 'remove-orphans remove --network-dir /x'],
    ['repair', 'a pattern', `remove-orphans remove --network-dir /x/* --script-digest ${digest}`],
    ['repair', 'a pipe', `remove-orphans remove --x | touch ${marker} --script-digest ${digest}`],
    ['repair', 'sudo itself', `sudo -n touch ${marker}`],
  ]
  test.each(asked)('%s key, %s', async (key, _what, command) => {
    const file = key === 'read' ? node.readKey : node.repairKey
    const answered = await asStranger(node, file, (client, done) => client.exec(command, done))
    expect(answered).toEqual({ code: 77, out: '', err: expect.stringMatching(/^dispatch: .*\n$/) })
  })

  test.each(['read', 'repair'] as const)(
    '%s key: no shell, no terminal, no sftp, no forwarding',
    async key => {
      const file = key === 'read' ? node.readKey : node.repairKey
      const shellAsked = await asStranger(node, file, (client, done) => client.shell(false, done))
      expect(shellAsked).toMatchObject({ code: 77, out: '', err: expect.stringContaining('opens no shell') })
      await expect(asStranger(node, file, (client, done) => client.shell(done))).rejects.toThrow(
        /pseudo-terminal/,
      )
      const sftp = await asStranger(node, file, (client, done) => client.subsys('sftp', done)).catch(
        (error: unknown) =>
          error instanceof Error ? { out: '', message: error.message } : { out: 'let in' },
      )
      expect(sftp.out).toBe('')
      await expect(
        asStranger(node, file, (client, done) =>
          client.forwardOut('127.0.0.1', 0, '127.0.0.1', node.port, done),
        ),
      ).rejects.toThrow(/prohibited|failure/i)
    },
  )
})

test('B6: the probe is asked in no other form than those the forced command lets through', () => {
  const gather = readFileSync(join(import.meta.dirname, '../../../src/steps/gather.ts'), 'utf8')
  expect(gather.match(/script: 'probe',[^}]*/g)).toEqual([
    "script: 'probe', args: how === 'full' ? [] : ['--light'] ",
  ])
})

describe('B6: refuses with one line that says what to do', () => {
  const script = (): string => inTree(`${library}/probe`)
  const refused = async (command: NodeCommand = probe): Promise<string> => {
    const error: unknown = await shell.run(target, command, limits).catch((cause: unknown) => cause)
    if (!(error instanceof Error)) throw new Error(`it ran: ${JSON.stringify(error)}`)
    expect(error.message).not.toContain('\n')
    return `${error.name}: ${error.message}`
  }
  let kept: Buffer
  beforeEach(() => {
    kept = readFileSync(script())
  })
  afterEach(() => {
    writeFileSync(script(), kept)
    chmodSync(script(), 0o755)
  })

  test('where another version of a script is installed: both digests are named', async () => {
    writeFileSync(script(), `${kept.toString()}# changed\n`)
    expect(await refused()).toMatch(
      new RegExp(
        `^Refused: node-07: nothing was run: probe is installed as sha256 [0-9a-f]{64}, asked for was ${probeDigest()}; run install-node.sh of the version that asks$`,
      ),
    )
  })
  test('where somebody else could change a script', async () => {
    chmodSync(script(), 0o775)
    expect(await refused()).toMatch(
      /must belong to root, and nobody else may write there; run install-node\.sh$/,
    )
  })
  test('where a script is missing', async () => {
    rmSync(script())
    expect(await refused()).toMatch(/probe is not installed; run install-node\.sh$/)
  })
  test('where the key runs a shell instead of the forced command', async () => {
    await shell.close()
    const { lab, node: plain } = node.place
    shell = shellOf(node, {
      readKeyFile: lab.readIdentity,
      knownHostsFile: lab.knownHosts,
      nodeAddresses: new Map([['node-07', { host: '127.0.0.1', port: plain.port }]]),
    })
    expect(await refused()).toMatch(
      /^Refused: node-07: nothing was run: the login has no forced command .*; run install-node\.sh there, or set CNIBOT_SSH_MODE=sent$/,
    )
  })
  test('where the node has no sudo', async () => {
    const dispatch = inTree(`${library}/dispatch`)
    const text = readFileSync(dispatch, 'utf8')
    writeFileSync(dispatch, text.replace('120 sudo -n', '120 no-such-sudo -n'))
    try {
      expect(await refused()).toMatch(/^Refused: node-07: nothing was run: timeout: .*; install sudo there$/)
    } finally {
      writeFileSync(dispatch, text)
    }
  })
  test('where both identities have one key, in one file or in two', async () => {
    await shell.close()
    const order: NodeCommand = { script: 'remove-orphans', args: orderArgs(node.place.node), stdin: '' }
    const copy = join(node.tree, 'copy')
    writeFileSync(copy, readFileSync(node.readKey), { mode: 0o600 })
    for (const repairKeyFile of [node.readKey, copy]) {
      shell = shellOf(node, { repairKeyFile })
      expect(await refused(order)).toMatch(
        /^Refused: reading and repairing have the same private key .*: give/,
      )
      await shell.close()
    }
  })
})
