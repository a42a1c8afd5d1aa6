import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'

const src = join(import.meta.dirname, '../../src')

/**
 * Which part of `src` may import which. An adapter may also import its own folder; packages are not parts.
 * What is not in the table connects everything: the programs beside it and the folder of the command line.
 */
const allowed: Record<string, string[]> = {
  core: ['core'],
  view: ['core', 'view'],
  ports: ['core'],
  steps: ['core', 'ports', 'steps'],
  flows: ['core', 'view', 'ports', 'steps', 'flows'],
  adapters: ['core', 'ports'],
  settings: ['core', 'settings'],
  config: ['settings'],
}
const forbiddenNames = /^(utils?|helpers?|common|shared|managers?|services?)(\.ts)?$/

interface Source {
  /** As people write it: core/ipam/gap.ts */
  path: string
  text: string
  /** Imported modules: './gap.js' style ones resolved against `src`, packages as they are written. */
  inside: string[]
  packages: string[]
}

const read = (file: string): Source => {
  const path = relative(src, file)
  const text = readFileSync(file, 'utf8')
  const found = [...text.matchAll(/(?:^|\s)(?:from|import)\s*\(?\s*'([^']+)'/g)].map(match => match[1] ?? '')
  const inside = found.filter(name => name.startsWith('.'))
  return {
    path,
    text,
    inside: inside.map(name => relative(src, join(dirname(file), name)).replace(/\.js$/, '.ts')),
    packages: found.filter(name => !name.startsWith('.')),
  }
}

const sources: Source[] = readdirSync(src, { recursive: true, encoding: 'utf8' })
  .filter(name => /\.tsx?$/.test(name))
  .map(name => read(join(src, name)))

const partOf = (path: string): string => path.split('/')[0]?.replace(/\.ts$/, '') ?? ''
const folderOf = (path: string): string => path.split('/').slice(0, 2).join('/')
const isPure = ({ path }: Source): boolean => ['core', 'view'].includes(partOf(path))

/** Everything that matches, as `path: line`; comments do not count. */
const linesWith = (some: Source[], pattern: RegExp): string[] =>
  some.flatMap(({ path, text }) =>
    text
      .split('\n')
      .filter(line => !/^\s*(\/\/|\/?\*)/.test(line) && pattern.test(line))
      .map(line => `${path}: ${line.trim()}`),
  )

describe('the architecture', () => {
  it('is being read at all', () => {
    expect(sources.length).toBeGreaterThan(40)
    expect(sources.find(({ path }) => path === 'ports.ts')?.inside).toContain('core/evidence/bundle.ts')
  })

  it('lets a part import only what the table allows', () => {
    const wrong = sources.flatMap(({ path, inside }) => {
      const part = partOf(path)
      const own = (to: string) => part === 'adapters' && folderOf(to) === folderOf(path)
      const mayImport = (to: string) => allowed[part]?.includes(partOf(to)) || own(to)
      return allowed[part] ? inside.filter(to => !mayImport(to)).map(to => `${path} → ${to}`) : []
    })
    expect(wrong).toEqual([])
  })

  it('has no folder that the table does not know, but that of the command line', () => {
    const folders = sources.filter(({ path }) => path.includes('/')).map(({ path }) => partOf(path))
    expect([...new Set(folders)].filter(folder => !(folder in allowed) && folder !== 'cli')).toEqual([])
  })

  it('lets nothing import bot or worker but the command line that starts them', () => {
    const wrong = sources.filter(
      ({ path, inside }) =>
        path !== 'cli.ts' && inside.some(to => ['bot.ts', 'worker.ts', 'cli.ts'].includes(to)),
    )
    expect(wrong.map(({ path }) => path)).toEqual([])
  })

  it('keeps deciding and wording free of waiting, clock, chance, disk and network', () => {
    const pure = sources.filter(isPure)
    const outside = pure.flatMap(({ path, packages }) =>
      packages
        .filter(name => !['zod', 'ipaddr.js', 'node:crypto'].includes(name))
        .map(name => `${path} → ${name}`),
    )
    // Types of Slack's blocks are only types.
    expect(outside.filter(edge => !edge.endsWith('→ @slack/types'))).toEqual([])
    expect(
      linesWith(pure, /\bDate\.now\(|\bnew Date\(\)|\bMath\.random\(|\basync\b|\bawait\b|\bfetch\(/),
    ).toEqual([])
  })

  it('reads the environment in config.ts only', () => {
    expect(
      linesWith(
        sources.filter(({ path }) => path !== 'config.ts'),
        /process\.env/,
      ),
    ).toEqual([])
  })

  it('prints to the console nowhere but at the command line', () => {
    const elsewhere = sources.filter(({ path }) => !/^cli(\.ts|\/)/.test(path))
    expect(linesWith(elsewhere, /\bconsole\./)).toEqual([])
  })

  it('has no file above 250 lines', () => {
    const long = sources.map(({ path, text }) => ({ path, lines: text.split('\n').length - 1 }))
    expect(long.filter(({ lines }) => lines > 250)).toEqual([])
  })

  it('has no drawer for things without a name', () => {
    const bad = sources.filter(({ path }) => path.split('/').some(name => forbiddenNames.test(name)))
    expect(bad.map(({ path }) => path)).toEqual([])
  })

  it('writes file names in kebab-case', () => {
    expect(
      sources.filter(({ path }) => !/^([a-z0-9-]+\/)*[a-z0-9-]+\.tsx?$/.test(path)).map(s => s.path),
    ).toEqual([])
  })
})
