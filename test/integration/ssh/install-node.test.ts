import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { newKey, writeKey } from '../../lab/nodes/keys.js'
import { install, shipped } from './installed-node.js'

describe('B6: install-node.sh', () => {
  let dir: string
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'cnibot-install-'))
  })
  afterEach(() => rmSync(dir, { recursive: true, force: true }))
  const key = (name: string, text?: string): string => {
    writeKey(join(dir, name), newKey(name))
    if (text !== undefined) writeFileSync(join(dir, `${name}.pub`), text)
    return join(dir, `${name}.pub`)
  }
  const says = (read: string, repair: string): string => {
    try {
      install(join(dir, 'tree'), read, repair)
      return 'it installed'
    } catch (error) {
      return typeof error === 'object' && error !== null && 'stderr' in error ? String(error.stderr) : ''
    }
  }

  test('makes the home of a kept user root’s, so that nobody puts another .ssh in the place of this one', () => {
    const home = join(dir, 'tree/home/cnibot-repair')
    mkdirSync(join(home, '.ssh'), { recursive: true })
    for (const path of [home, join(home, '.ssh')]) {
      chownSync(path, 64_992, 64_992)
      chmodSync(path, 0o775)
    }
    expect(says(key('read'), key('repair'))).toBe('it installed')
    for (const path of [home, join(home, '.ssh')]) {
      const { uid, gid, mode } = statSync(path)
      expect({ uid, gid, mode: mode & 0o7777 }).toEqual({ uid: 0, gid: 0, mode: 0o755 })
    }
  })
  test.each<[string, RegExp, (ssh: string) => void]>([
    [
      'a second file of keys, which sshd reads too',
      /cnibot-probe\/\.ssh\/authorized_keys2 would let keys in without the forced command; remove it\n$/,
      ssh => {
        mkdirSync(ssh)
        writeFileSync(join(ssh, 'authorized_keys2'), '')
      },
    ],
    [
      'a .ssh that leads elsewhere',
      /cnibot-probe\/\.ssh leads elsewhere; remove it\n$/,
      ssh => symlinkSync('/nowhere', ssh),
    ],
  ])('refuses %s, and installs nothing', (_what, said, prepare) => {
    const home = join(dir, 'tree/home/cnibot-probe')
    mkdirSync(home, { recursive: true })
    prepare(join(home, '.ssh'))
    expect(says(key('read'), key('repair'))).toMatch(said)
    expect(existsSync(join(dir, 'tree/usr'))).toBe(false)
  })
  test('refuses one key for both', () => {
    const only = key('only')
    expect(says(only, only)).toBe(
      'install-node: reading and repairing need two keys, and these are the same\n',
    )
  })
  test('refuses a private key, a missing one, two keys in one file, and a line with options of its own', () => {
    const good = key('good')
    expect(says(join(dir, 'good'), good)).toMatch(/good is not one public key\n$/)
    expect(says(join(dir, 'none'), good)).toMatch(/none is no file; give the public key\n$/)
    const line = readFileSync(good, 'utf8')
    expect(says(key('two', line + line), good)).toMatch(/two\.pub is not one public key\n$/)
    expect(says(key('options', `command="sh" ${line}`), good)).toMatch(/options\.pub is not one p/)
    expect(existsSync(join(dir, 'tree'))).toBe(false)
  })
  test('refuses another user than root', () => {
    chmodSync(dir, 0o755)
    const copy = join(dir, 'install-node.sh')
    writeFileSync(copy, readFileSync(join(shipped, 'install-node.sh')))
    const argv = ['--reuid=65534', '--clear-groups', 'sh', copy]
    expect(() => execFileSync('setpriv', argv, { stdio: 'pipe' })).toThrow(/run it as root/)
  })
})
