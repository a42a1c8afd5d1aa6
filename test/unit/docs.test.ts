import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

const root = join(import.meta.dirname, '../..')
const pages = [
  'README.md',
  'ARCHITECTURE.md',
  'CONTRIBUTING.md',
  'CHANGELOG.md',
  'runbooks/README.md',
  'docs/settings.md',
]
const read = (page: string) => readFileSync(join(root, page), 'utf8')

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
})
