import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { newKey, writeKey } from '../../lab/nodes/keys.js'
import { install, shipped } from './installed-node.js'

describe('install-node.sh refuses', () => {
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

  test('one key for both', () => {
    const only = key('only')
    expect(says(only, only)).toBe(
      'install-node: reading and repairing need two keys, and these are the same\n',
    )
  })
  test('a private key, a missing one, two keys in one file, and a line with options of its own', () => {
    const good = key('good')
    expect(says(join(dir, 'good'), good)).toMatch(/good is not one public key\n$/)
    expect(says(join(dir, 'none'), good)).toMatch(/none is no file; give the public key\n$/)
    const line = readFileSync(good, 'utf8')
    expect(says(key('two', line + line), good)).toMatch(/two\.pub is not one public key\n$/)
    expect(says(key('options', `command="sh" ${line}`), good)).toMatch(/options\.pub is not one p/)
    expect(existsSync(join(dir, 'tree'))).toBe(false)
  })
  test('another user than root', () => {
    chmodSync(dir, 0o755)
    const copy = join(dir, 'install-node.sh')
    writeFileSync(copy, readFileSync(join(shipped, 'install-node.sh')))
    const argv = ['--reuid=65534', '--clear-groups', 'sh', copy]
    expect(() => execFileSync('setpriv', argv, { stdio: 'pipe' })).toThrow(/run it as root/)
  })
})
