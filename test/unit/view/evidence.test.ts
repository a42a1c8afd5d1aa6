import { type Bundle, unknown } from '../../../src/core/evidence/bundle.js'
import { measure } from '../../../src/core/ipam/gap.js'
import { evidenceMessage } from '../../../src/view/evidence.js'
import { evidenceFile } from '../../../src/view/evidence/file.js'
import { blockProblems } from '../../lab/slack/limits/blocks.js'
import { characters } from '../../../src/view/blocks.js'
import { bundleWithoutAnswers } from '../../fakes/bundle.js'
import { allocation, day, now, storeWith } from '../leaking-node.js'
import { realCapture } from '../real-capture.js'
import { expectGolden } from './golden.js'
import { shown } from './shown.js'
import { storyBundle, timeZone } from './story-bundle.js'

const textOf = (bundle: Bundle): string => shown(evidenceMessage(bundle, measure(bundle), timeZone))
const fileOf = (bundle: Bundle): string => evidenceFile(bundle, measure(bundle), timeZone).text
const story = textOf(storyBundle())
const lineWith = (text: string, label: string): string =>
  text.split('\n').find(line => line.includes(`*${label}:*`)) ?? `no line ${label}`

test('the evidence of node-07 stands as written', () => {
  const bundle = storyBundle()
  expectGolden('evidence-story', evidenceMessage(bundle, measure(bundle), timeZone))
})

test('the gap stands first', () => {
  const first = story.split('\n')[1]
  expect(first).toContain('*Addresses:* *253 of 253* taken in 10.244.7.0/24')
  expect(first).toContain('*212 without a sandbox*, 41 living')
})

test('P-E1: the error is counted over its span, parsed, and the plugin is said to answer', () => {
  const error = lineWith(story, 'Error')
  expect(error).toContain('*14× in 41 min*')
  expect(error).toContain('no IP addresses available in range set: 10.244.7.1-10.244.7.254')
  expect(error).not.toContain('5a1f')
  expect(story).toContain(
    'plugin bridge, range 0, range set 10.244.7.1-10.244.7.254. The plugin runs and answers',
  )
})

test('P-E2: all conditions, and that Ready says nothing about making a Pod', () => {
  const conditions = lineWith(story, 'Conditions')
  for (const each of ['Ready=True', 'MemoryPressure=False', 'DiskPressure=False', 'PIDPressure=False'])
    expect(conditions).toContain(each)
  expect(story).toContain('It says nothing about whether a Pod can get an address')
})

test('P-E3: what ls | wc -l would say, and which of it is bookkeeping', () => {
  expect(story).toContain('`ls /var/lib/cni/networks/k8s-pod-network | wc -l` says 255: 2 are bookkeeping')
})

test('P-E4: sandboxes by state and network, and how many own an address', () => {
  expect(lineWith(story, 'Sandboxes')).toContain(
    '*44* listed: 43 ready, 1 not ready, 2 on the host network (they own no address); 41 addresses belong to one',
  )
})

test('P-E5: a sample of orphan files with age, interface and what the runtime says of the owner', () => {
  expect(lineWith(story, 'A sample')).toMatch(/10\.244\.7\.44 → `\w{13}…` eth0, made 15 days ago/)
  expect(story).toContain('the runtime knows none of these sandboxes: `rpc error: code = NotFound')
})

test('P-E6: peers stand beside the node in one table', () => {
  const message = evidenceMessage(storyBundle(), measure(storyBundle()), timeZone)
  const table = message.blocks.find(block => block.type === 'table')
  expect(
    shown({ text: '', blocks: table ? [table] : [] })
      .split('\n')
      .slice(4),
  ).toEqual([
    'node-07',
    '253 of 253',
    '44',
    '212',
    'node-04',
    '37 of 253',
    '39',
    '0',
    'node-11',
    '50 of 253',
    '52',
    '0',
  ])
})

test('P-E7: DEL failures by unit with a histogram and a band, and how far back the journal reaches', () => {
  const dels = lineWith(story, 'DEL failures')
  expect(dels).toMatch(/containerd: \*187 lines\* `[▁-█]{24}` 20 Oct 11:31–12:14/)
  expect(dels).toContain('kubelet: *187 lines*')
  expect(story).toContain(
    'The journal reaches back to 5 Sept 11:31 (60 days ago), further than the oldest orphan.',
  )
})

test('P-E7: a journal that begins after the orphans neither supports nor excludes', () => {
  const journal = storyBundle().journal
  if (!('value' in journal)) throw new Error('the story has a journal')
  const text = textOf(
    storyBundle({
      journal: { ...journal, value: { ...journal.value, lines: [], reachesBackTo: now - 9 * day } },
    }),
  )
  expect(lineWith(text, 'DEL failures')).toContain('*none* in containerd, kubelet')
  expect(text).toContain('212 of 212 orphans are older: for those it neither supports nor excludes a cause')
})

test('P-E8: Pods against maxPods, and why the scheduler prefers the node', () => {
  expect(lineWith(story, 'Pods')).toContain(
    '*43 of 110* on the node. The scheduler counts Pods, not addresses',
  )
})

test('P-E9: when the orphans were made, beside the restarts', () => {
  expect(lineWith(story, 'When the orphans were made')).toMatch(
    /`[▁-█]{24}` \*15 days ago, 20 Oct 11:45–11:48 \(212 of 212\)\*/,
  )
  expect(lineWith(story, 'Restarts')).toContain('containerd *20 Oct 11:31, 20 Oct 11:49*')
})

test('P-A5: leftovers are counted and left alone', () => {
  expect(lineWith(story, 'Leftovers')).toContain(
    '12 of 53 host veths without a peer · 253 CNI- chains in nat · 41 cached results. Reported, left alone.',
  )
})

test('the attached file holds every address with its verdict and the command as it ran', () => {
  const text = fileOf(storyBundle())
  expect(text.match(/^10\.244\.7\.\d+ {2}without a sandbox/gm)).toHaveLength(212)
  expect(text.match(/^10\.244\.7\.\d+ {2}living \(listed\)/gm)).toHaveLength(41)
  expect(text).toContain("== What ran on the node\nsh -s -- 'k8s-pod-network'")
})

test('an answer that is missing stands as one line in its place, never as zero', () => {
  const text = textOf(
    storyBundle({
      sandboxes: unknown('crictl pods: no such file or directory; install crictl or set its path', now),
      journal: unknown('journalctl took longer than 10 s and was stopped', now),
    }),
  )
  expect(text).toContain('*Sandboxes, When the orphans were made:* not known: crictl pods: no such file')
  expect(text).toContain('*DEL failures:* not known: journalctl took longer than 10 s')
  expect(text).toContain('253 address files; how many of them leaked is not known')
  expect(text).not.toContain('0 without a sandbox')
})

test('a node that was never reached gives one reason for all it could have said', () => {
  const reason = 'node-07: the host key is not the pinned one; nothing was asked'
  const bundle = bundleWithoutAnswers('node-07', now)
  const silent = Object.fromEntries(
    Object.entries(bundle).map(([key, value]) =>
      typeof value === 'object' && value !== null && 'reason' in value
        ? [key, unknown(reason, now)]
        : [key, value],
    ),
  )
  const text = textOf({ ...bundle, ...silent })
  expect(text.split(reason)).toHaveLength(2)
  expect(text).toContain('the node was not reached')
})

test('text from a node can neither mention nor link nor end a code span', () => {
  const hostile =
    'plugin type="bridge" failed <!channel> <http://evil|click> `` `x` & \u001b[31mred\u001b[0m\u202e'
  const text = textOf(
    storyBundle({
      events: {
        at: now,
        value: [
          {
            namespace: 'a',
            pod: 'p',
            podUid: 'u',
            node: 'node-07',
            count: 1,
            first: now,
            last: now,
            message: hostile,
            folded: false,
          },
        ],
      },
    }),
  )
  for (const each of ['<!channel>', '<http', '\u001b', '\u202e']) expect(text).not.toContain(each)
  expect(text).toContain('&lt;!channel&gt; &lt;http://evil|click&gt; ʼʼ ʼxʼ &amp; red')
})

test('a store of 65,000 files and a page of events stay within one message', () => {
  const many = Array.from({ length: 65_000 }, (_, i) =>
    allocation(i % 250, { ip: `10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`, inode: i }),
  )
  const events = Array.from({ length: 400 }, (_, i) => ({
    namespace: 'load',
    pod: `p-${i}`,
    podUid: `u-${i}`,
    node: 'node-07',
    count: 3,
    first: now - day,
    last: now,
    message: `${'x'.repeat(900)} ${i}`,
    folded: true,
  }))
  const bundle = storyBundle({
    stores: { at: now, value: [storeWith(many)] },
    events: { at: now, value: events },
  })
  const message = evidenceMessage(bundle, measure(bundle), timeZone)
  expect(characters(message.blocks)).toBeLessThan(10_000)
  expect(blockProblems(message.blocks, 'message')).toEqual([])
})

test.each(['1-healthy', '2-leaking', '4-exhausted', '7-repaired'])(
  'a real node at %s stands as written',
  moment => {
    const bundle = realCapture(moment)
    const message = evidenceMessage(bundle, measure(bundle), timeZone)
    expect(blockProblems(message.blocks, 'message')).toEqual([])
    expectGolden(`evidence-real-${moment}`, message)
  },
)
