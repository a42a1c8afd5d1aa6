import { mkdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { removeOrphansPath } from '../../../src/adapters/ssh/scripts.js'
import { type Entry, quarantineOf, RuleNode } from '../../rules/rule-node.js'

let node: RuleNode
let orphans: Entry[]
const work = `${quarantineOf('run-1')}.work`
const kept = (): string[] => Object.keys(node.inodes(quarantineOf('run-1'))).sort()

/** Of eight leaked addresses: one is moved by an earlier try, one recorded, one held; so no list of a further try is empty. */
const prepare = async (): Promise<void> => {
  node = new RuleNode()
  await node.live()
  orphans = await node.leak(8)
  const [earlier, recorded, held] = orphans
  if (!earlier || !recorded || !held) throw new Error('three addresses expected')
  node.know(recorded, 'records')
  node.write('ip/addr', JSON.stringify([{ ifname: 'eth0', addr_info: [{ local: held.ip }] }]))
  mkdirSync(node.path('proc/4711/ns'), { recursive: true })
  symlinkSync('net:[4711]', node.path('proc/4711/ns/net'))
  expect((await node.order(removeOrphansPath, [earlier])).moved).toEqual([earlier.ip])
}
/** What is written to this file from now on finds no room. */
const fill = (file: string): void => {
  rmSync(node.path(`${work}/${file}`), { force: true })
  symlinkSync('/dev/full', node.path(`${work}/${file}`))
}

const script = readFileSync(removeOrphansPath, 'utf8')
const restoreAt = script.indexOf('if [ "$VERB" = restore ]')
const removeAt = script.indexOf('\nfi\n', restoreAt)
const written = (part: string): string[] => [
  ...new Set([...part.matchAll(/>"\$W\/(\w+)"/g)].map(([, name = '']) => name)),
]
/** Errors are words only; after the move no list decides what goes. */
const [before = '', after = ''] = script.slice(removeAt).split('xargs -r mv -n')
const deciding = [...written(before), 'listed', 'recorded'].filter(name => name !== 'errors')

beforeEach(prepare)
afterEach(() => node.close())

describe('P-A3: the disk is full, and what the removal is decided by cannot be written:', () => {
  test.each([...new Set(deciding)])('%s: the order is refused, and no file has moved', async file => {
    const there = kept()
    fill(file)
    const { code, stderr, moved } = await node.order(removeOrphansPath, orphans)
    expect({ code, stderr }).toEqual({ code: 78, stderr: expect.stringMatching(/ cannot be written.*\n$/) })
    expect(moved).toEqual([])
    expect(kept()).toEqual(there)
  })

  test.each(written(after).filter(name => !deciding.includes(name) && name !== 'errors'))(
    '%s: what was moved is not told as less, and the next try tells it',
    async file => {
      fill(file)
      expect(await node.order(removeOrphansPath, orphans)).toMatchObject({ code: 80, moved: [] })
      rmSync(node.path(`${work}/${file}`))
      const { code, already } = await node.order(removeOrphansPath, orphans)
      expect({ code, already: already.toSorted() }).toEqual({ code: 0, already: kept() })
    },
  )
})

describe('B4: the disk is full, and a restore loses no file and tells none as less:', () => {
  // `moving` is only made there, where it is missing.
  const lists = written(script.slice(restoreAt, removeAt)).filter(
    name => !['errors', 'moving'].includes(name),
  )
  test.each(lists)('%s', async file => {
    await node.order(removeOrphansPath, orphans)
    const gone = kept()
    fill(file)
    const { code } = await node.order(removeOrphansPath, [], { verb: 'restore' })
    expect([78, 80]).toContain(code)
    rmSync(node.path(`${work}/${file}`))
    const again = await node.order(removeOrphansPath, [], { verb: 'restore' })
    expect(again.code).toBe(0)
    for (const one of orphans.filter(({ ip }) => gone.includes(ip))) expect(node.has(one)).toBe(true)
  })
})
