import { diagnose } from '../../../src/core/diagnosis/diagnose.js'
import { type Answer, type Bundle, isKnown, type NodeAnswers } from '../../../src/core/evidence/bundle.js'
import { readNodeAnswers } from '../../../src/core/evidence/parse/answers.js'
import { readRemovalReport } from '../../../src/core/evidence/parse/removal-report.js'
import { measure } from '../../../src/core/ipam/gap.js'
import { evidenceMessage } from '../../../src/view/evidence.js'
import { evidenceFile } from '../../../src/view/evidence/file.js'
import { leakingNode } from '../leaking-node.js'
import { id, output, type Part, probeText } from './probe-text.js'

const at = 1_796_052_325_000
const seconds = at / 1_000
const good: Record<string, Part> = {
  host: {
    body: `hostname node-07\nnow ${seconds}\nuid 0\nboot_id 3b7b2c5e-0d6f-4a55-9b0e-1f3a5d6c7e81\nbtime 1790000000`,
  },
  runtime: {
    body: 'endpoint unix:///run/containerd/containerd.sock\nfrom x\nRuntimeName:  containerd\nRuntimeVersion:  v2.1.0',
  },
}
const read = (parts: Record<string, Part>): NodeAnswers =>
  readNodeAnswers(output(probeText({ ...good, ...parts }, seconds)), { at, now: at + 2_000 })
const reason = (answer: Answer<unknown>): string => (isKnown(answer) ? 'known' : answer.reason)
const many = (piece: string, count: number): string => piece.repeat(count)

describe('B6: a node that lies in its answers is not understood, in one line:', () => {
  const lies: [string, keyof NodeAnswers, Record<string, Part>, RegExp][] = [
    [
      'JSON of a hundred thousand brackets',
      'sandboxes',
      { sandboxes: { body: many('[', 100_000) + many(']', 100_000) } },
      /is no list of sandboxes/,
    ],
    [
      'JSON with half a million empty objects',
      'sandboxes',
      { sandboxes: { body: `{"items":[${many('{},', 500_000)}{}]}` } },
      /is no list of sandboxes/,
    ],
    [
      'a thousand objects that are no sandboxes',
      'sandboxes',
      { sandboxes: { body: `{"items":[${many('{},', 1_000)}{}]}` } },
      /is no list of sandboxes/,
    ],
    [
      'nine million letters of JSON',
      'sandboxes',
      { sandboxes: { body: `{"items":[],"x":"${many('x', 9_000_000)}"}` } },
      /is no list of sandboxes/,
    ],
    [
      'numbers that are no numbers',
      'sandboxes',
      { sandboxes: { body: `{"items":[{"id":"${id('a')}","metadata":{"attempt":1e999}}]}` } },
      /is no list of sandboxes/,
    ],
    [
      'devices that are no devices',
      'held',
      { held: { body: `@host\n[${many('0,', 100_000)}0]` } },
      /the answer about host .*is not understood/,
    ],
    [
      'more namespaces than a node has',
      'held',
      { held: { body: many('@host\n', 30_000) } },
      /30000 namespaces are more than a node has/,
    ],
    [
      'more address files than there are addresses',
      'stores',
      { stores: { body: `@/var/lib/cni/networks/x\0${many('rf 1 0 1.1 a\0', 200_000)}` } },
      /more entries than a node can have/,
    ],
    [
      'a configuration of a million plugins',
      'conflist',
      { conflist: { body: `@/etc/cni/net.d/1.conflist\n|{"plugins":[${many('{},', 1_000_000)}]}` } },
      /letters are too many for a configuration/,
    ],
    [
      'more lines than it can have to say',
      'leftovers',
      { a: { body: many('\n', 400_000) } },
      /more lines than/,
    ],
    ['a thousand sections', 'leftovers', sectionsOf(1_000), /more lines than/],
  ]
  test.each(lies)('%s', (_what, part, parts, said) => {
    const answers = read(parts)
    expect(reason(answers[part])).toMatch(said)
    expect(reason(answers[part])).not.toContain('\n')
  })
})

function sectionsOf(count: number): Record<string, Part> {
  return Object.fromEntries(Array.from({ length: count }, (_, n) => [`part-${n}`, { body: '' }]))
}

describe('B6: a lie in the right form stays what it is:', () => {
  test('a sandbox named twice is one, so that a lost one cannot hide behind it', () => {
    const body = `{"items":[{"id":"${id('a')}"},{"id":"${id('a')}"},{"id":"${id('b')}"}]}`
    const { sandboxes } = read({ sandboxes: { body } })
    expect(isKnown(sandboxes) && sandboxes.value.map(each => each.id)).toEqual([id('a'), id('b')])
  })

  test('keys that would change an object’s kind change nothing', () => {
    const body = `{"__proto__":{"items":[{"id":"${id('c')}"}]},"items":[{"id":"${id('a')}","__proto__":{"state":"SANDBOX_READY"},"constructor":{"prototype":{"state":"x"}}}]}`
    const { sandboxes } = read({ sandboxes: { body } })
    expect(isKnown(sandboxes) && sandboxes.value).toMatchObject([{ id: id('a'), state: 'notready' }])
    expect(Object.getPrototypeOf(isKnown(sandboxes) && sandboxes.value[0])).toBe(Object.prototype)
    expect({}).not.toHaveProperty('state')
    const folder = '@/var/lib/cni/networks/__proto__\0rf 1 0 1.1 10.1.1.1\0'
    const { stores } = read({
      stores: { body: folder },
      contents: { body: '@/var/lib/cni/networks/__proto__' },
    })
    expect(isKnown(stores) && stores.value[0]?.network).toBe('__proto__')
  })

  test('a file listed twice is named, a folder outside the plain names is not taken for one', () => {
    const body = '@/x/net\0rf 1 0 1.1 10.1.1.1\0rf 2 0 1.1 10.1.1.1\0@/x/../$(id)\0rf 3 0 1.1 10.1.1.2\0'
    const { stores } = read({ stores: { body }, contents: { body: '' } })
    if (!isKnown(stores)) throw new Error(stores.reason)
    expect(stores.value.map(({ dir }) => dir)).toEqual(['/x/net'])
    expect(stores.value[0]?.allocations.map(({ inode }) => inode)).toEqual([1])
    expect(stores.value[0]?.foreign).toEqual([
      { name: '10.1.1.1', why: 'listed twice, which no folder does' },
    ])
  })

  test('the report of a removal names addresses, or is not taken for one', () => {
    const line = (file: string, result = 'moved'): string => `${JSON.stringify({ file, result })}\n`
    const done = '{"done":true,"underLockMs":1e308,"quarantine":"/q"}\n'
    const report = readRemovalReport(
      `${line('<!channel>')}${line('../../etc/passwd')}${line('10.1.1.1')}${done}${many('{}\n', 200_000)}`,
    )
    expect(report).toMatchObject({ moved: ['10.1.1.1'], complete: false, underLockMs: 0 })
  })
})

describe('B6: what a hostile node says reaches the thread as plain text', () => {
  const bell = String.fromCharCode(7)
  const evil = `<!channel> <@U1> <http://evil|click> \u001b[31mred\u001b]8;;http://evil${bell}x \u202e\u200b\u2028 \`\`\` & \0`
  const body = (text: string): string => text.replaceAll('\n', ' ')
  const said = body(evil)
  const parts: Record<string, Part> = {
    host: { body: `hostname ${said}\nnow ${seconds}\nboot_id ${'0'.repeat(36)}\nbtime 999999999999` },
    conflist: {
      body: `@/etc/cni/net.d/${said}.conflist\n|${JSON.stringify({ name: said, cniVersion: said, plugins: [{ type: said, ipam: { type: 'host-local', dataDir: '/x', ranges: [[{ subnet: said }]] } }] })}`,
    },
    stores: {
      body: `@/x/net\0rf 99999999999999999999 70 999999999999.9 10.1.1.1\0rf 1 0 -5 ${said}\0r? 1 1 1 x\0`,
    },
    contents: { body: `@/x/net\n10.1.1.1\t${said}\n10.1.1.1\t${said}`, said },
    runtime: {
      body: `endpoint unix:///${said}\nfrom ${said}\nRuntimeName: ${said}\nRuntimeVersion: ${said}`,
    },
    sandboxes: {
      body: JSON.stringify({
        items: [
          {
            id: id('a'),
            metadata: { name: evil, namespace: evil, uid: evil, attempt: 1e308 },
            state: evil,
            createdAt: '9'.repeat(100_000),
          },
        ],
      }),
    },
    records: { body: '', code: 1, said },
    owners: { body: `10.1.1.1\t${id('b')}\t1\tcode = NotFound ${said}` },
    held: { body: `@host\n[]\n@namespace ${said}\n[{"addr_info":[{"local":"${id('9').slice(0, 40)}"}]}]` },
    journal: {
      body: `window 1 9999999999\n${said}\t${seconds}.1 ${said} x[1]: failed to destroy network ${said}\ncontainerd\t${seconds}.1 n c[1]: failed to destroy network ${said}\n!containerd\t0\t${'9'.repeat(400)}`,
    },
    restarts: { body: `containerd ExecMainStartTimestamp=@999999999999\nboot 9999-99-99 99:99:99`, said },
    leftovers: { body: `@links\n[]\n@nat\n${'9'.repeat(400)}\n@results /x\n1e999 -1` },
  }

  const shownOf = (over: Partial<Record<string, Part>>): string => {
    const bundle: Bundle = { ...leakingNode(3, 2), ...read({ ...parts, ...over } as Record<string, Part>) }
    const gap = measure(bundle)
    diagnose(bundle, [])
    const file = evidenceFile(bundle, gap, 'UTC').text
    // Kept in Redis and read again: nothing may turn into null or a date that is none.
    expect(JSON.parse(JSON.stringify(bundle))).toEqual(bundle)
    return `${JSON.stringify(evidenceMessage(bundle, gap, 'UTC'))}\n${JSON.stringify(file)}`
  }

  test.each([
    ['all parts at once', {}],
    ...Object.keys(parts).map((name): [string, Partial<Record<string, Part>>] => [
      `${name} failed`,
      { [name]: { body: said, code: 99_999, said } },
    ]),
  ])('%s', (_what, over) => {
    const shown = shownOf(over)
    const [message = ''] = shown.split('\n')
    expect(message).toContain('&lt;!channel&gt;')
    for (const raw of ['<!channel>', '<@U1>', '<http://evil']) expect(message).not.toContain(raw)
    expect(shown).not.toMatch(/\\u001b|\\u0000|\\u0007|\u202e|\u200b|\u2028|Invalid Date|NaN/)
  })
})
