import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parse } from 'yaml'
import { settings } from '../../src/settings/list.js'

const root = join(import.meta.dirname, '../..')
const pages = [
  'README.md',
  'ARCHITECTURE.md',
  'CONTRIBUTING.md',
  'CHANGELOG.md',
  'runbooks/README.md',
  'docs/settings.md',
  'docs/audit.md',
  'docs/node-access.md',
]
const read = (page: string) => readFileSync(join(root, page), 'utf8')
/** What the pattern's group found, sorted. */
const found = (text: string, pattern: RegExp): string[] =>
  [...text.matchAll(pattern)].map(match => match[1] ?? '').sort()

describe('the pages for people', () => {
  it.each(pages)('%s links only to what exists', page => {
    const links = [...read(page).matchAll(/\]\(([^)#\s]+)/g)].map(match => match[1] ?? '')
    const broken = links.filter(link => !link.includes('://') && !existsSync(join(root, dirname(page), link)))
    expect(broken).toEqual([])
  })

  it.each(['ARCHITECTURE.md', 'CONTRIBUTING.md'])('%s names files that exist', page => {
    const named = [
      ...read(page).matchAll(/`((?:src|test|core|flows|steps|adapters|runbooks|helm)\/[\w./-]+)`/g),
    ]
    const missing = named
      .map(match => match[1] ?? '')
      .filter(path => !existsSync(join(root, path)) && !existsSync(join(root, 'src', path)))
    expect(missing).toEqual([])
  })

  it('README begins with the two commands, and both are scripts', () => {
    const commands = read('README.md').split('\n').slice(2, 6).join('\n')
    expect(commands).toMatch(/npm run demo .*\n.*npm test /)
    expect(Object.keys(JSON.parse(read('package.json')).scripts)).toEqual(
      expect.arrayContaining(['demo', 'test', 'docs']),
    )
  })

  it('README prepares a node with the users and the program that sudo knows and the worker calls', () => {
    const sudoers = read('src/adapters/ssh/sudoers.example')
    const users = [...new Set(found(sudoers, /^([\w-]+) ALL=/gm))]
    const readme = read('README.md')
    const made = found(readme, /\buseradd .* ([\w-]+)$/gm)
    const given = found(readme, /settings\.ssh(?:Read|Repair)User=([\w-]+)/g)
    expect([made, given]).toEqual([users, users])
    const program = settings.sshRemoveCommand.default?.split(' ').at(-1)
    expect(sudoers).toContain(`NOPASSWD: ${program} ""\n`)
    expect(readme).toContain(`remove-orphans.sh ${program}\n`)
  })

  it('README hands the secrets over under the keys that the chart reads', () => {
    const { redis, slack, ssh } = parse(read('helm/values.yaml')).secrets
    const made = [...read('README.md').matchAll(/create secret generic (\S+)(.*)/g)].map(
      ([, name, keys = '']) => [name, [...keys.matchAll(/--from-(?:file|literal)=([\w-]+)/g)].map(m => m[1])],
    )
    expect(made).toEqual([
      [redis.existingSecret, [redis.urlKey]],
      [slack.existingSecret, [slack.botTokenKey, slack.appTokenKey]],
      [ssh.existingSecret, [ssh.readKey, ssh.repairKey, ssh.knownHostsKey]],
    ])
  })
})
