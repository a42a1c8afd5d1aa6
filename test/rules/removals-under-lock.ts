import { line, type Removal, refusals, removal, script, unlisted } from './removal-edits.js'

/** Under the lock. */
export const nine: Removal[] = [
  unlisted(9, refusals, 'lockIsThere'),
  unlisted(9, refusals, 'storeIsBesideQuarantine'),
  line(9, 'node: the store is a folder', script, '[ -d "$D" ] && [ ! -L "$D" ] ||', 'true ||'),
  line(
    9,
    'node: the lock in hand is the file of that name',
    script,
    '[ "$inode" = "$(stat -L -c %i /proc/self/fd/9)" ] ||',
    'true ||',
  ),
  line(9, 'node: never over another file', script, 'xargs -r mv -n -t', 'xargs -r mv -f -t'),
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

/** Putting back. */
export const ten: Removal[] = [
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
  line(
    10,
    'node: a quarantine of this run alone',
    script,
    '[ "$(head -n 1 "$W/sent")" != first ] ||',
    'true ||',
  ),
]
