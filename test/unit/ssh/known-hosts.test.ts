import { execFileSync } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  fingerprint,
  hostKeyTypes,
  pinnedFor,
  readKnownHosts,
  whyNotTrusted,
} from '../../../src/adapters/ssh/known-hosts.js'
import { commandLine, quote } from '../../../src/adapters/ssh/quote.js'

const dir = mkdtempSync(join(tmpdir(), 'cnibot-keys-'))
afterAll(() => rmSync(dir, { recursive: true, force: true }))
const newKey = (name: string, type = 'ed25519'): string => {
  execFileSync('ssh-keygen', ['-q', '-t', type, '-N', '', '-f', join(dir, name)])
  return readFileSync(join(dir, `${name}.pub`), 'utf8')
    .split(' ')
    .slice(0, 2)
    .join(' ')
}
const key = newKey('one')
const other = newKey('two')
const raw = (text: string): Buffer => Buffer.from(text.split(' ')[1] ?? '', 'base64')
const node = { name: 'node-07', address: '10.0.0.7', port: 22 }
const elsewhere = { ...node, port: 2207 }
const trusts = (text: string, host = node, offered = key): boolean => {
  const pinned = pinnedFor(readKnownHosts(text), host)
  return pinned.keys.length > 0 && whyNotTrusted(pinned, raw(offered), 'f') === undefined
}
const hashed = (name: string): string => {
  const salt = Buffer.alloc(20, 7)
  return `|1|${salt.toString('base64')}|${createHmac('sha1', salt).update(name).digest('base64')}`
}

test.each<[string, string, typeof node, boolean]>([
  ['the plain name', `node-07 ${key}`, node, true],
  ['the address', `10.0.0.7 ${key}`, node, true],
  ['a list', `a,node-07,10.0.0.9 ${key} comment`, node, true],
  ['a pattern', `node-* ${key}`, node, true],
  ['one letter', `node-0? ${key}`, node, true],
  ['letters in another case', `NODE-07 ${key}`, node, true],
  ['an exception', `node-*,!node-07 ${key}`, node, false],
  ['a dot is a dot', `10x0.0.7 ${key}`, node, false],
  ['a hashed name', `${hashed('node-07')} ${key}`, node, true],
  ['a hash of another name', `${hashed('node-08')} ${key}`, node, false],
  ['address and port', `[10.0.0.7]:2207 ${key}`, elsewhere, true],
  ['a hashed address and port', `${hashed('[10.0.0.7]:2207')} ${key}`, elsewhere, true],
  ['another port', `[10.0.0.7]:2208 ${key}`, elsewhere, false],
  ['blank lines and comments', `\n# node-07 ${key}\n  \n`, node, false],
  ['a key that contradicts its type', `node-07 ssh-rsa ${key.split(' ')[1]}`, node, false],
  ['a line without a key', 'node-07 ssh-ed25519', node, false],
  ['half a key', 'node-07 ssh-ed25519 AAAA', node, false],
  ['a certificate authority', `@cert-authority node-07 ${key}`, node, false],
  ['an unknown marker', `@trusted node-07 ${key}`, node, false],
  ['a revoked key beside the same pinned', `node-07 ${key}\n@revoked * ${key}`, node, false],
  ['another key is revoked', `node-07 ${key}\n@revoked * ${other}`, node, true],
  ['two keys of one host', `node-07 ${other}\nnode-07 ${key}`, node, true],
  ['another key', `node-07 ${other}`, node, false],
])('known_hosts: %s', (_, text, host, expected) => expect(trusts(text, host)).toBe(expected))

test('the name decides before the address: a key that moved with its address does not open this node', () => {
  expect(trusts(`node-07 ${key}\n10.0.0.7 ${other}`, node, other)).toBe(false)
  expect(trusts(`node-07 ${key}\n10.0.0.7 ${other}`, node, key)).toBe(true)
})

test('only types that are pinned may be offered; an RSA key is used with SHA-2', () => {
  const rsa = newKey('rsa', 'rsa')
  expect(hostKeyTypes(pinnedFor(readKnownHosts(`node-07 ${rsa}\nnode-07 ${key}`), node))).toEqual([
    'rsa-sha2-512',
    'rsa-sha2-256',
    'ssh-ed25519',
  ])
})

test('a fingerprint is the one ssh-keygen prints', () => {
  const printed = execFileSync('ssh-keygen', ['-lf', join(dir, 'one.pub')], { encoding: 'utf8' }).split(
    ' ',
  )[1]
  expect(fingerprint(raw(key))).toBe(printed)
})

test.each([
  ['plain-1.2/3:4@x', 'plain-1.2/3:4@x'],
  ['', "''"],
  ['two words', "'two words'"],
  ["it's", "'it'\\''s'"],
  ['$(id)', "'$(id)'"],
  ['a;b', "'a;b'"],
  ['*', "'*'"],
  ['~', "'~'"],
  ['new\nline', "'new\nline'"],
])('quote %j', (argument, expected) => {
  expect(quote(argument)).toBe(expected)
  const printed = execFileSync('dash', ['-c', commandLine(['printf', '%s', argument])], { encoding: 'utf8' })
  expect(printed).toBe(argument)
})
