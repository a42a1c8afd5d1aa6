#!/bin/sh
# Moves approved address files of host-local into quarantine, or puts them back. The only script that changes a node.
#   remove-orphans remove|restore --network-dir DIR --quarantine ROOT/OP/NETWORK --op OP --endpoint EP --boot-id ID
#     [--lock-inode N] [--lock-wait S] [--min-sandboxes N] [--script-digest SHA256] [--without-records]
# Standard input: `fence N` first, the number of this order: a lower one than the node has seen is outdated. It is no option,
# since it differs from try to try of one approved command. Then, for `remove`, one approved file a line, TAB between
# address, inode, size, owner (`-` when empty), sha256; before them `first` where no order of this op can have moved any.
# Standard output: one JSON object a file, then one that says `done`. Safe to kill at any point and to run again with
# the same op: what an earlier try has moved is told from the quarantine itself.
# Exit codes: 0 done, 64 wrong use, 65 wrong list, 69 the runtime gives no answer to rely on, 75 a lock is taken,
# 76 fenced off, 78 this node is not as approved: no address file was touched by this try. 80 what it did cannot be told.
set -u
umask 077
LC_ALL=C R=${CNIBOT_NODE_ROOT:-}
# It runs as root: the caller's programs count only on a practice node, below a root of its own.
PATH=${R:+$PATH:}/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/opt/bin:/var/lib/rancher/rke2/bin
export LC_ALL PATH
refuse() { code=$1; shift; echo "remove-orphans: $*" >&2; exit "$code"; }

VERB=${1:-}
case $VERB in remove | restore) shift ;; *) refuse 64 'say remove or restore' ;; esac
DIR= QUARANTINE= OP= ENDPOINT= BOOT= FENCE= LOCK_INODE= WAIT=10 FEWEST=1 DIGEST= RECORDS=needed
while [ $# -gt 0 ]; do
  case $1 in --without-records) RECORDS=; shift; continue ;; esac
  [ $# -gt 1 ] || refuse 64 "$1 needs a value"
  case $2 in '' | *[!A-Za-z0-9._:/-]* | *..*) refuse 64 "$1: not a plain value" ;; esac
  case $1 in
    --network-dir) DIR=$2 ;; --quarantine) QUARANTINE=$2 ;; --op) OP=$2 ;; --endpoint) ENDPOINT=$2 ;;
    --boot-id) BOOT=$2 ;; --lock-inode) LOCK_INODE=$2 ;; --lock-wait) WAIT=$2 ;;
    --min-sandboxes) FEWEST=$2 ;; --script-digest) DIGEST=$2 ;;
    *) refuse 64 "unknown option $1" ;;
  esac
  shift 2
done
case $DIR in /*[!/]) ;; *) refuse 64 '--network-dir must be the full path of one network' ;; esac
case $OP in '' | *[!A-Za-z0-9._-]*) refuse 64 '--op is missing or no plain name' ;; esac
case $ENDPOINT in unix:///*) ;; *) refuse 64 '--endpoint must begin with unix:///' ;; esac
case $WAIT:$FEWEST:${LOCK_INODE:-0} in :* | *: | *::* | *[!0-9:]* | *:*:*:*) refuse 64 '--lock-wait, --lock-inode and --min-sandboxes are numbers' ;; esac
read -r word FENCE || word=
case $word:$FENCE in *:*[!0-9]* | *: | *:????????????????*) word= ;; esac
[ "$word" = fence ] || refuse 65 "the first line of standard input must be 'fence' and a number"
NETWORK=${DIR##*/}
# Outside the plugin's folder: it walks that one with all its sub-folders and would count a copy as an address.
case $QUARANTINE in
  "${DIR%/*}"/*) refuse 64 'the quarantine lies inside the folder of the plugin' ;;
  /*/cnibot-quarantine/"$OP/$NETWORK") ;;
  *) refuse 64 "--quarantine must be …/cnibot-quarantine/$OP/$NETWORK" ;;
esac
D=$R$DIR Q=$R$QUARANTINE OPDIR=$R${QUARANTINE%/*}
ROOT=${OPDIR%/*} W=$OPDIR/$NETWORK.work
if [ -n "$DIGEST" ]; then
  mine=$(sha256sum <"$0")
  [ "${mine%% *}" = "$DIGEST" ] || refuse 78 "the script installed on this node (sha256 ${mine%% *}) is not the one approved ($DIGEST); install it again"
fi
[ -d "$D" ] && [ ! -L "$D" ] || refuse 78 "$DIR is not a folder on this node"
[ -f "$D/lock" ] && [ ! -L "$D/lock" ] || refuse 78 "$DIR/lock does not exist: the plugin has made none, so none is taken"
if [ "$VERB" = remove ]; then
  read -r boot <"$R/proc/sys/kernel/random/boot_id" || refuse 78 'the boot id cannot be read'
  [ "$boot" = "$BOOT" ] || refuse 78 "the node was started anew since the plan (boot id $boot); plan again"
fi
mkdir -p "$Q" "$W" || refuse 78 "$QUARANTINE cannot be made" # rename needs one mount, not only one device: mv would copy
mount=$(stat -c '%d %m' "$D") && [ "$mount" = "$(stat -c '%d %m' "$Q")" ] || refuse 78 "$QUARANTINE is on another filesystem than $DIR"

exec 8>"$ROOT/lock"
flock -w 30 8 || refuse 75 'another removal is running on this node; try again'
fence=0
[ ! -e "$ROOT/fence" ] || read -r fence <"$ROOT/fence" || refuse 78 "$ROOT/fence cannot be read; remove it while no removal runs"
[ "$FENCE" -ge "$fence" ] || refuse 76 "a newer order (fence $fence) has been carried out on this node; this one (fence $FENCE) is outdated. Where none was, a clock was ahead: remove $ROOT/fence while no removal runs"
echo "$FENCE" >"$ROOT/fence.next" && sync "$ROOT/fence.next" && mv -f "$ROOT/fence.next" "$ROOT/fence" || refuse 78 'the fence cannot be written'
# The disk may be full: a list that is written or read in part would pass for one that says less. Each is checked.
unwritten() { refuse 78 "what is decided by cannot be written to ${W#"$R"}, or read there: is the disk full?"; }
untold() { refuse 80 "what this try did to $DIR cannot be told: is the disk full? Run it again: it tells"; }
files_of() { find "$1" -ignore_readdir_race -mindepth 1 -maxdepth 1 -type f -name '*[.:]*' ! -name '*[!0-9a-f.:]*' -printf '%f\t%i\t%s\n'; }
now_cs() { read -r up _ </proc/uptime; echo "${up%.*}${up#*.}"; }
# 9 is the plugin's own lock: opened for reading, never made, never removed, and checked to be the file of that name.
take_lock() {
  exec 9<"$D/lock" || refuse 78 "$DIR/lock cannot be opened"
  flock -w "$WAIT" 9 || refuse 75 "the plugin's lock was not free within $WAIT s; try again"
  LOCKED=$(now_cs)
  inode=$(stat -c %i "$D/lock") && [ "$inode" = "$(stat -L -c %i /proc/self/fd/9)" ] || refuse 78 "$DIR/lock was replaced meanwhile"
  [ -z "$LOCK_INODE" ] || [ "$inode" = "$LOCK_INODE" ] || refuse 78 "$DIR/lock is not the one of the plan; plan again"
}
free_lock() { exec 9<&-; HELD=$((($(now_cs) - LOCKED) * 10)); }
say_done() { printf '{"done":true,"verb":"%s","underLockMs":%s,"quarantine":"%s","sandboxes":%s,"records":"%s"}\n' "$VERB" "$HELD" "$QUARANTINE" "${LISTED:-0}" "${SOURCES:-}"; }
# `result TAB address TAB why` lines as JSON, up to `whole`; addresses and reasons hold no character that needs care but these.
as_json() {
  awk -F '\t' '$0 == "whole" { whole = 1; next } { gsub(/["\\\001-\010\013-\037]/, "", $3)
    printf "{\"file\":\"%s\",\"result\":\"%s\"%s}\n", $2, $1, $1 == "skipped" ? ",\"why\":\"" $3 "\"" : "" } END { exit !whole }'
}

if [ "$VERB" = restore ]; then
  take_lock
  files_of "$Q" >"$W/kept" && files_of "$D" >"$W/there" || unwritten
  # What the next try finds put back by this one; the manifest also names what never moved.
  { echo && cat "$W/kept"; } >>"$W/restoring" && { [ -e "$W/moving" ] || true >"$W/moving"; } || unwritten
  # Free addresses, and those an earlier try has linked already.
  awk -F '\t' 'FILENAME == ARGV[1] { inode[$1] = $2; next } !($1 in inode) { print $1 }' "$W/there" "$W/kept" >"$W/go" || unwritten
  # link(2) never replaces: a new owner of the address keeps it.
  [ ! -s "$W/go" ] || (cd "$Q" && xargs ln -t "$D" -- <"$W/go") 2>"$W/errors"
  files_of "$D" >"$W/there" || untold
  awk -F '\t' 'FILENAME == ARGV[1] { inode[$1] = $2; next } inode[$1] == $2 { print $1 }' "$W/there" "$W/kept" >"$W/back" || untold
  [ ! -s "$W/back" ] || (cd "$Q" && xargs rm -f -- <"$W/back")
  free_lock
  (cd "$D" && cut -f 1 "$W/kept" | xargs -r grep -aHm 1 '' -- 2>/dev/null) | tr -d '\r\t' | sed 's/:\([0-9a-zA-Z_-]*\)$/\t\1/' >"$W/owners" || untold
  {
    awk -F '\t' -v OFS='\t' '
      FILENAME == ARGV[1] { back[$1] = 1; next } FILENAME == ARGV[2] { owner[$1] = $2; next }
      FILENAME == ARGV[3] { inode[$1] = $2; next }
      FILENAME == ARGV[4] {
        kept[$1] = 1
        if ($1 in back) print "moved", $1, ""; else print "skipped", $1, (($1 in inode) ? "the address has a new owner: " owner[$1] : "could not be linked")
        next
      }
      $1 in kept || $1 in told { next }
      FILENAME == ARGV[5] { if (NF) put[$1] = 1; if (NF && inode[$1] == $2) { told[$1] = 1; print "already", $1, "" } next }
      NF == 3 && !($1 in put) && inode[$1] != $2 { told[$1] = 1; print "skipped", $1, "its file is neither in the quarantine nor in the store" }
    ' "$W/back" "$W/owners" "$W/there" "$W/kept" "$W/restoring" "$W/moving" && echo whole
  } | as_json && say_done || untold
  exit 0
fi

cat >"$W/sent" && files_of "$Q" >"$W/earlier" || unwritten
# Undo would put back what stands in no plan of this run.
[ "$(head -n 1 "$W/sent")" != first ] || { [ ! -s "$W/earlier" ] && [ ! -e "$W/restoring" ]; } ||
  refuse 78 "$QUARANTINE holds files of an earlier run that had the same name; end this run and open a new one"
sed '1{/^first$/d}' "$W/sent" >"$W/list" || unwritten
bad=$(awk -F '\t' '
  NF != 5 || $1 !~ /^[0-9a-f.:]+$/ || $1 !~ /[.:]/ || $2 $3 ~ /[^0-9]/ || length($5) != 64 || $5 ~ /[^0-9a-f]/ ||
  !(($4 == "-" && $3 == 0) || (length($4) == 64 && $4 !~ /[^0-9a-f]/ && $3 >= 64)) || seen[$1]++ { print NR; exit }' "$W/list") || unwritten
[ -z "$bad" ] || refuse 65 "line $bad of the list is no approved file"

# The runtime once more, in every state, then its own records: an owner found in either is not touched.
SOCKET=${ENDPOINT#unix://}
[ ! -S "$R$SOCKET" ] || SOCKET=$R$SOCKET
# Most programs do not notice that their answer was not written; cat does.
ask() {
  { timeout -k 2 20 "$@" </dev/null 2>"$W/errors" && echo && echo whole; } | cat >"$W/answer" || unwritten
  [ "$(tail -n 1 "$W/answer")" = whole ]
}
CRICTL=crictl CTR=ctr
command -v crictl >/dev/null || CRICTL='k3s crictl'
command -v ctr >/dev/null || CTR='k3s ctr'
ask $CRICTL -r "unix://$SOCKET" -t 10s version || refuse 69 "the runtime does not answer: $(tail -n 1 "$W/errors")"
runtime=$(sed -n 's/^RuntimeName:[[:space:]]*//p' "$W/answer")
version=$(sed -n 's/^RuntimeVersion:[[:space:]]*v\{0,1\}\([0-9.]*\).*/\1/p' "$W/answer")
ask $CRICTL -r "unix://$SOCKET" -t 10s pods -q || refuse 69 "the runtime does not list its sandboxes: $(tail -n 1 "$W/errors")"
ids_to() { grep -o '^[0-9a-f]\{64\}' "$W/answer" >>"$W/$1" || [ $? = 1 ] || unwritten; }
true >"$W/listed" && true >"$W/recorded" && true >"$W/held" || unwritten
ids_to listed
LISTED=$(grep -c . "$W/listed")
[ "$LISTED" -gt 0 ] || refuse 69 'the runtime lists no sandbox at all: is it the one the kubelet uses?'
[ "$LISTED" -ge "$FEWEST" ] || refuse 69 "the runtime lists $LISTED sandboxes, fewer than the $FEWEST of the plan; plan again"

SOURCES= WHY=
record() {
  source=$1; shift
  ask "$@" || { WHY="$source: $(tail -n 1 "$W/errors")"; return 1; }
  SOURCES="$SOURCES${SOURCES:+, }$source"
  ids_to recorded
}
complete=1
case $runtime in
  containerd)
    record 'containers' $CTR -a "$SOCKET" -n k8s.io containers ls -q || complete=
    case $version in
      1.[0-4].* | 1.5.[0-9] | 1.5.1[0-4] | 1.6.[0-8]) complete=1 ;; # writes nothing down before ADD: the plan's two readings stand for it
      0.* | 1.*) record 'sandboxes' $CTR -a "$SOCKET" -n k8s.io sandboxes ls ;;
      *) record 'sandboxes' $CTR -a "$SOCKET" -n k8s.io sandboxes ls || complete= ;;
    esac
    ;;
  cri-o)
    storage=$(sed -n 's/^[[:space:]]*graphroot[[:space:]]*=[[:space:]]*"\(\/[A-Za-z0-9._\/-]*\)".*/\1/p' "$R/etc/containers/storage.conf" 2>/dev/null | head -n 1)
    record 'storage' find "$R${storage:-/var/lib/containers/storage}/overlay-containers" -mindepth 1 -maxdepth 1 -type d -printf '%f\n' || complete=
    ;;
  docker) record 'docker ps' docker ps -aq --no-trunc --filter label=io.kubernetes.docker.type=podsandbox || complete= ;;
  *) complete= ;;
esac
if [ -n "$complete" ] && [ -n "$SOURCES" ] && ! grep -qxFf "$W/listed" "$W/recorded"; then
  complete= WHY='they name none of the sandboxes it lists: another runtime answered'
fi
cat "$W/listed" "$W/recorded" >"$W/owned" || unwritten
[ -n "$complete" ] || [ -z "$RECORDS" ] || refuse 69 "the runtime's own records cannot be read ($runtime $version; $WHY)"

# Whatever a namespace, the node itself, a confirmed neighbour or a route to the one address holds is in use, whoever the
# file names. Asked before the lock is taken, since it is slow; where it cannot be asked, nothing may go.
command -v ip >/dev/null || refuse 69 'ip is not installed on this node: who holds an address cannot be asked; install iproute2'
unheard() { refuse 69 "who holds an address cannot be asked: $1: $(tail -n 1 "$W/errors")"; }
# Of `ip -j` objects that hold $1: the addresses in field $2, and why that keeps the file.
holds() {
  awk -v RS='{' -v OFS='\t' -v want="$1" -v field="\"$2\": *\"[0-9a-f.:]*(/32|/128)?\"" -v why="$3" '$0 ~ want {
    for (rest = $0; match(rest, field); rest = substr(rest, RSTART + RLENGTH)) {
      split(substr(rest, RSTART, RLENGTH), part, "\"")
      sub("/.*", "", part[4]); print part[4], why
    }
  }' "$W/answer" >>"$W/held" || unwritten
}
for ns in "$R"/run/netns/*; do
  [ -e "$ns" ] || continue
  if [ -n "$R" ]; then name=$ns; else name=${ns##*/}; fi
  if ask ip -n "$name" -j addr; then holds . local 'a network namespace holds the address'
  elif [ "$(stat -f -c %T "$ns" 2>/dev/null)" = nsfs ]; then unheard "ip -n $name addr"; fi
done
# Namespaces without a name, as docker's: by a process inside each.
named=" $(readlink /proc/self/ns/net) $(stat -L -c 'net:[%i]' "$R"/run/netns/* 2>/dev/null | tr '\n' ' ') "
find "$R"/proc/[0-9]*/ns/net -maxdepth 0 -printf '%l %p\n' 2>"$W/errors" | awk '!seen[$1]++' >"$W/spaces" || unwritten
[ -s "$W/spaces" ] || [ -n "$R" ] || unheard 'the network namespaces of processes'
while read -r ns file; do
  case $named in *" $ns "*) continue ;; esac
  if ask nsenter --net="$file" ip -j addr; then holds . local 'a network namespace holds the address'
  elif [ -e "$file" ]; then unheard "$ns"; fi
done <"$W/spaces" || unwritten
ask ip -j addr && holds . local 'the node itself has the address' || unheard 'ip addr'
ask ip -j neigh && holds '"(REACHABLE|PERMANENT)"' dst 'a neighbour answers at the address' || unheard 'ip neigh'
ask ip -j route && holds . dst 'a route leads to the address' || unheard 'ip route'
awk -F '\t' '$1 ~ /:/ { exit 1 }' "$W/list" || { ask ip -j -6 route && holds . dst 'a route leads to the address'; } || unheard 'ip -6 route'

# What may go if the file is still the approved one; the manifest is on disk before the first file moves.
true >"$W/skipped" || unwritten
awk -F '\t' -v OFS='\t' -v skips="$W/skipped" '
  FILENAME == ARGV[1] { earlier[$1] = $2; next } FILENAME == ARGV[2] { owned[$1] = 1; next }
  FILENAME == ARGV[3] { held[$1] = $2; next }
  $1 in earlier && earlier[$1] == $2 { next }
  $4 in owned { print "skipped", $1, "the runtime knows its owner" >skips; next }
  $1 in held { print "skipped", $1, held[$1] >skips; next }
  { print }' "$W/earlier" "$W/owned" "$W/held" "$W/list" >"$W/may" || unwritten
cat "$W/list" >>"$W/manifest" && sync "$W/manifest" || refuse 78 'the manifest cannot be written'

take_lock
files_of "$D" >"$W/there" || unwritten
awk -F '\t' 'FILENAME == ARGV[1] { was[$1] = $2 FS $3; next } was[$1] == $2 FS $3 { print $1 }' "$W/there" "$W/may" >"$W/same" || unwritten
(cd "$D" && xargs -r sha256sum -- <"$W/same") 2>/dev/null | cat >"$W/sums" || unwritten
awk -F '\t' 'FILENAME == ARGV[1] { split($0, part, "  "); sum[part[2]] = part[1]; next } sum[$1] == $5 { print $1 }' "$W/sums" "$W/may" >"$W/go" || unwritten
# What restore must find again, with an end to each line.
awk -F '\t' -v OFS='\t' 'BEGIN { print "" } FILENAME == ARGV[1] { go[$1] = 1; next } $1 in go { print $1, $2, "." }' "$W/go" "$W/may" >>"$W/moving" || unwritten
(cd "$D" && xargs -r mv -n -t "$Q" -- <"$W/go") 2>"$W/errors"
free_lock

files_of "$Q" >"$W/kept" || untold
failed=$(tail -n 1 "$W/errors" | tr -d '\t')
{
  cat "$W/skipped" && awk -F '\t' -v OFS='\t' -v failed="$failed" '
    FILENAME == ARGV[1] { print "already", $1, ""; next }
    FILENAME == ARGV[2] { kept[$1] = $2; next }
    FILENAME == ARGV[3] { there[$1] = 1; next } FILENAME == ARGV[4] { go[$1] = 1; next }
    kept[$1] == $2 { print "moved", $1, ""; next }
    $1 in go { print "skipped", $1, "could not be moved: " ($1 in kept ? "the quarantine holds an earlier file of this address" : failed); next }
    !($1 in there) { print "skipped", $1, "gone: the plugin has freed it meanwhile"; next }
    { print "skipped", $1, "changed since the plan: another owner has the address, or the file is another" }
  ' "$W/earlier" "$W/kept" "$W/there" "$W/go" "$W/may" && echo whole
} | as_json && say_done || untold
