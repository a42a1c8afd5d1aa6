import type { Edit } from './code.js'

/** One guard of a rule, and how it is taken out of the code. All guards of a rule can be taken out together. */
export interface Removal {
  rule: number
  guard: string
  edits: Edit[]
}

const refusals = 'core/ipam/removal-refusals.ts'
const entries = 'core/ipam/removal-entries.ts'
const removal = 'core/ipam/removal.ts'
const gap = 'core/ipam/gap.ts'
const script = 'adapters/ssh/remove-orphans.sh'

/** A function of a list of rules that is no longer in the list. */
const unlisted = (rule: number, file: string, name: string): Removal => ({
  rule,
  guard: name,
  edits: [{ file, remove: `\n  ${name},\n`, put: '\n' }],
})
const line = (rule: number, guard: string, file: string, remove: string, put = ''): Removal => ({
  rule,
  guard,
  edits: [{ file, remove, put }],
})

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
  line(3, 'node: records are read', script, '[ -z "$RECORDS" ] || refuse 69', 'true ||'),
]

const four: Removal[] = [
  unlisted(4, entries, 'unlistedTwice'),
  line(4, 'the file is that old', removal, 'recorded === undefined ? twoReadingsMs : 0', '0'),
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

const nine: Removal[] = [
  unlisted(9, refusals, 'lockIsThere'),
  line(9, 'the same file in both readings', removal, ' && sameFile(other, entry)'),
  line(9, 'node: the plugin’s lock', script, `  flock -w "$WAIT" 9 || refuse 75`, '  true ||'),
  line(9, 'node: the lock of the plan', script, `[ "$inode" = "$LOCK_INODE" ] || refuse 78`, 'true ||'),
  line(
    9,
    'node: the lock is never made',
    script,
    `[ -f "$D/lock" ] && [ ! -L "$D/lock" ] ||`,
    '>>"$D/lock" ||',
  ),
  line(
    9,
    'node: the same inode and size',
    script,
    'was[$1] == $2 FS $3 { print $1 }',
    '$1 in was { print $1 }',
  ),
  line(9, 'node: the same content', script, 'sum[$1] == $5 { print $1 }', '$1 in sum { print $1 }'),
  line(9, 'node: outside the folder', script, `  "\${DIR%/*}"/*) refuse 64`, '  //*) refuse 64'),
  line(9, 'node: the same filesystem', script, `= "$(stat -c '%d %m' "$Q")" ] ||`, '!= "" ] ||'),
  line(9, 'node: a manifest', script, 'cat "$W/list" >>"$W/manifest" && sync "$W/manifest" ||', 'true ||'),
  line(
    9,
    'node: nothing slow under the lock',
    script,
    `'the manifest cannot be written'\n\ntake_lock\n`,
    `'the manifest cannot be written'\n\ntake_lock\nask $CRICTL -r "unix://$SOCKET" -t 10s pods -q >"$W/listed"\n`,
  ),
]

const ten: Removal[] = [
  {
    rule: 10,
    guard: 'node: link, then remove',
    edits: [
      {
        file: script,
        remove: `awk -F '\\t' 'FILENAME == ARGV[1] { inode[$1] = $2; next } !($1 in inode) { print $1 }' "$W/there" "$W/kept" >"$W/go"`,
        put: `cut -f 1 "$W/kept" >"$W/go"`,
      },
      { file: script, remove: 'xargs ln -t "$D" --', put: 'xargs mv -f -t "$D" --' },
    ],
  },
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
