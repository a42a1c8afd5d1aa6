import { entries, gap, line, type Removal, refusals, removal, script, unlisted } from './removal-edits.js'
import { nine, ten } from './removals-under-lock.js'

export type { Removal } from './removal-edits.js'

const one: Removal[] = [
  ...[
    'runtimeAnswers',
    'apiAnswers',
    'listIsNotEmpty',
    'listHoldsRunningPods',
    'endpointIsKubelets',
    'sandboxesNotLost',
    'runtimeNotRestarted',
    'sameBoot',
  ].map(name => unlisted(1, refusals, name)),
  line(
    1,
    'sandboxes are counted by id',
    refusals,
    'new Set(sandboxes.map(({ id }) => id)).size',
    'sandboxes.length',
  ),
  line(1, 'node: the runtime answers', script, 'refuse 69 "the runtime does not answer: ', 'echo >&2 "'),
  line(1, 'node: the list is given', script, 'refuse 69 "the runtime does not list ', 'echo >&2 "'),
  line(
    1,
    'Ready sandboxes alone prove an endpoint',
    refusals,
    "sandboxes.value.filter(({ state }) => state === 'ready')",
    'sandboxes.value',
  ),
  line(1, 'node: the list is not empty', script, `[ "$LISTED" -gt 0 ] || refuse 69`, 'true ||'),
  line(1, 'node: a fifth at most is gone', script, `[ "$LISTED" -ge "$FEWEST" ] || refuse 69`, 'true ||'),
  line(1, 'node: the same boot', script, `[ "$boot" = "$BOOT" ] || refuse 78`, 'true ||'),
]

const two: Removal[] = [
  line(
    2,
    'readInOrder: addresses first',
    refusals,
    `  if (sandboxes.at < stores.at) return 'the sandboxes were listed before the addresses were read'\n`,
  ),
  line(
    2,
    'a NotReady sandbox is an owner',
    gap,
    'new Set(input.sandboxes.map(sandbox => sandbox.id))',
    `new Set(input.sandboxes.filter(({ state }) => state === 'ready').map(sandbox => sandbox.id))`,
  ),
  unlisted(2, entries, 'runtimeDisownsIt'),
  line(2, 'node: the list counts', script, 'cat "$W/listed" "$W/recorded" >', 'cat "$W/recorded" >'),
  {
    rule: 2,
    guard: 'probe: addresses first',
    edits: [
      { file: 'adapters/ssh/probe-journal.sh', remove: '  section stores stores\n' },
      {
        file: 'adapters/ssh/probe-journal.sh',
        remove: '  section records records\n',
        put: '  section records records\n  section stores stores\n',
      },
    ],
  },
]

const three: Removal[] = [
  line(
    3,
    'readInOrder: records last',
    refusals,
    'return isKnown(records) && records.at < sandboxes.at\n',
    'return records === undefined\n',
  ),
  line(3, 'records are owners', gap, 'new Set(input.records?.ids)', 'new Set<string>()'),
  line(3, 'node: records count', script, 'cat "$W/listed" "$W/recorded" >', 'cat "$W/listed" >'),
  line(
    3,
    'node: records of the same runtime',
    script,
    ' && ! grep -qxFf "$W/listed" "$W/recorded"',
    ' && false',
  ),
  line(3, 'node: records are read', script, '[ -z "$RECORDS" ] || refuse 69', 'true ||'),
]

const four: Removal[] = [
  unlisted(4, entries, 'unlistedTwice'),
  line(4, 'the file is that old', removal, 'recorded === undefined ? twoReadingsMs : 0', '0'),
  line(4, 'a time ahead of the clock is no age', gap, 'if (age < 0) return', 'if (age < -1e15) return'),
  line(4, 'acting waits', removal, '(earlier ?? bundle).collectedAt + twoReadingsMs', 'undefined'),
  unlisted(4, refusals, 'clockIsTrusted'),
]

const five: Removal[] = [
  line(
    5,
    'an owner is a sandbox id',
    gap,
    `  if (!isSandboxId(owner)) return { allocation, standing: 'foreign', because: foreignOwner(owner) }\n`,
  ),
  unlisted(5, entries, 'emptyOnlyBeforeBoot'),
  line(
    5,
    'node: an owner is a sandbox id',
    script,
    '!(($4 == "-" && $3 == 0) || (length($4) == 64 && $4 !~ /[^0-9a-f]/ && $3 >= 64)) || ',
  ),
]

const six: Removal[] = [
  line(6, 'inside the ranges', gap, 'if (!inside(ip)) {', 'if (input.now < 0) {'),
  ...['isCanonicalName', 'contentNamesOwner'].map(name => unlisted(6, entries, name)),
  ...['configurationIsKnown', 'storeIsKnown'].map(name => unlisted(6, refusals, name)),
  {
    rule: 6,
    guard: 'node: names of addresses',
    edits: [
      { file: script, remove: '$1 !~ /^[0-9a-f.:]+$/ || $1 !~ /[.:]/ || ' },
      { file: script, remove: ` -name '*[.:]*' ! -name '*[!0-9a-f.:]*'` },
    ],
  },
  line(6, 'node: regular files', script, '-maxdepth 1 -type f ', '-maxdepth 1 '),
]

const seven: Removal[] = [
  ...['heldByNothing', 'noRunningPodHasIt'].map(name => unlisted(7, entries, name)),
  unlisted(7, refusals, 'heldIsKnown'),
  line(
    7,
    'node: what is held stays',
    script,
    '  $1 in held { print "skipped", $1, held[$1] >skips; next }\n',
  ),
  line(
    7,
    'node: namespaces without a name',
    script,
    '  if ask nsenter --net="$file" ip -j addr; then',
    '  if false; then',
  ),
  line(
    7,
    'node: routes of the other family',
    script,
    '{ ask ip -j -6 route && holds',
    'true || { false && holds',
  ),
  line(7, 'node: who holds it can be asked', script, '{ refuse 69 "who holds', '{ : "who holds'),
  {
    rule: 7,
    guard: 'node: asked before the lock',
    edits: [
      { file: script, remove: '\nunheard() {', put: '\ntake_lock\nunheard() {' },
      {
        file: script,
        remove: `'the manifest cannot be written'\n\ntake_lock\n`,
        put: `'the manifest cannot be written'\n`,
      },
    ],
  },
]

const eight: Removal[] = [
  unlisted(8, refusals, 'nodeIsCordoned'),
  line(
    8,
    'by whom',
    removal,
    'isKnown(bundle.facts) ? bundle.facts.value.cordonedBy : undefined',
    'undefined',
  ),
]

export const removals: Removal[] = [
  ...one,
  ...two,
  ...three,
  ...four,
  ...five,
  ...six,
  ...seven,
  ...eight,
  ...nine,
  ...ten,
]
