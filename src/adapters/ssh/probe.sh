#!/bin/sh
# Reads what a node knows about its Pod network. Changes nothing, evaluates nothing it read, needs one round trip.
#   cat probe.sh probe-runtime.sh probe-journal.sh | /bin/sh -s -- [--light] [--window S] [--since EPOCH]
#     [--until EPOCH] [--samples N] [--timeout S] [--lines N] [--skip section,section]
# Output, in this order: `>section time`, its lines each behind one blank, `=exit-code last line of stderr`; `>end` last.
# Nothing a file or program says can forge a frame, since only frames begin without the blank.
# Runs as root, or as an ordinary user who may use `sudo -n` for the commands behind `root`.
set -u
LC_ALL=C TZ=UTC
PATH=$PATH:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/opt/bin:/var/lib/rancher/rke2/bin
export LC_ALL TZ PATH
R=${CNIBOT_NODE_ROOT:-}
LF='
'
TAB=$(printf '\t')

WINDOW=172800 SINCE= UNTIL= SAMPLES=5 LIMIT=20 MOST=4000 SKIP=

read_arguments() {
  # A short look: only what the gap and a removal need.
  if [ "${1:-}" = --light ]; then SKIP=owners,journal,leftovers; shift; fi
  while [ $# -gt 1 ]; do
    case $2 in *[!a-z0-9,.-]*) echo "probe: $1 $2: not a plain value" >&2; exit 64 ;; esac
    case $1 in
      --window) WINDOW=$2 ;; --since) SINCE=$2 ;; --until) UNTIL=$2 ;; --samples) SAMPLES=$2 ;;
      --timeout) LIMIT=$2 ;; --lines) MOST=$2 ;; --skip) SKIP=$2 ;;
      *) echo "probe: unknown option $1" >&2; exit 64 ;;
    esac
    shift 2
  done
  [ $# -eq 0 ] || { echo "probe: option $1 needs a value" >&2; exit 64; }
}

limited() { timeout -k 2 "$LIMIT" "$@"; }
if [ "$(id -u)" = 0 ]; then
  root() { limited "$@"; }
else
  root() { limited sudo -n "$@"; }
fi
# The cheapest way that can read this file or folder.
reading() { if [ -r "$1" ] && { [ ! -d "$1" ] || [ -x "$1" ]; }; then shift; limited "$@"; else shift; root "$@"; fi; }
installed() { command -v "$1" >/dev/null || { echo "$1 is not installed on this node" >&2; return 127; }; }

# 3 is the script's own output: the substitution gathers what the section said on stderr and its exit code.
section() {
  printf '>%s %s\n' "$1" "$(date +%s.%N)"
  case ",$SKIP," in *",$1,"*) echo '=200 not asked for in a short look'; return ;; esac
  said=$({ { "$2"; printf '\n%s' "$?" >&2; printf '\n'; } 2>&4 | sed 's/^/ /' >&3; } 4>&1 | tail -c 1200)
  code=${said##*"$LF"}
  said=$(printf '%s' "${said%"$LF"*}" | tr -d '\000-\010\013-\037\177' | grep -v '^[[:space:]]*$' | tail -n 1 | cut -c 1-600)
  printf '=%s %s\n' "$code" "$said"
}

host() {
  { read -r name <"$R/proc/sys/kernel/hostname"; } 2>/dev/null || name=$(hostname)
  printf 'hostname %s\nnow %s\nuid %s\n' "$name" "$(date +%s.%N)" "$(id -u)"
  printf 'boot_id %s\n' "$(cat "$R/proc/sys/kernel/random/boot_id")" &&
    printf 'btime %s\n' "$(sed -n 's/^btime //p' "$R/proc/stat")"
}

conf_files() {
  for dir in /etc/cni/net.d /var/lib/rancher/k3s/agent/etc/cni/net.d /var/snap/microk8s/current/args/cni-network; do
    found=
    for file in "$R$dir"/*; do
      case $file in *.conf | *.conflist | *.json) found=1; printf '%s\n' "$file" ;; esac
    done
    [ -z "$found" ] || return 0
  done
}

conflists() {
  list=$(conf_files)
  if [ -z "$list" ]; then
    [ -d "$R/etc/cni/net.d" ] || { echo '/etc/cni/net.d does not exist' >&2; return 1; }
  fi
  result=0
  while read -r file; do
    [ -n "$file" ] || continue
    printf '@%s\n' "${file#"$R"}"
    text=$(reading "$file" head -c 131072 "$file") || result=1
    printf '%s\n' "$text" | sed 's/^/|/'
  done <<END
$list
$(for file in "$R/run/flannel/subnet.env"; do [ ! -e "$file" ] || echo "$file"; done)
END
  return $result
}

data_dirs() {
  {
    echo /var/lib/cni/networks
    conf_files | while read -r file; do
      reading "$file" cat "$file" 2>/dev/null |
        grep -o '"dataDir"[[:space:]]*:[[:space:]]*"/[A-Za-z0-9._/-]*"' | sed 's/.*"\(\/[^"]*\)"$/\1/'
    done
  } | awk '!seen[$0]++'
}

networks() {
  for data in $(data_dirs); do
    [ -e "$R$data" ] || continue
    reading "$R$data" find -H "$R$data" -mindepth 1 -maxdepth 1 \( -type d -o -type l \) ! -name '*[!A-Za-z0-9._:-]*' -print || return 1
  done | sort
}

# Every entry of every network, NUL after each: names may hold anything. Metadata first, then contents, then sandboxes.
stores() {
  [ -e "$R/var/lib/cni" ] || [ -n "$(networks)" ] || { echo '/var/lib/cni does not exist' >&2; return 1; }
  list=$(networks) || return 1
  result=0
  for dir in $list; do
    printf '@%s\000' "${dir#"$R"}"
    reading "$dir" find -H "$dir" -mindepth 1 -maxdepth 1 \( -readable -printf r -o -printf - \) \
      -printf '%y %i %s %T@ %f\000' || result=1
  done
  return $result
}

# Contents of what can be an address file, as `name TAB line`: one grep for thousands of files.
read_contents() {
  dir=$1
  as=limited
  [ -r "$dir" ] && [ -x "$dir" ] && [ -z "$(find -H "$dir" -maxdepth 1 -type f ! -readable -print -quit 2>/dev/null)" ] || as=root
  {
    $as find -H "$dir" -maxdepth 1 -type f -size -513c -name '[0-9a-fA-F]*' ! -name '*[!0-9a-fA-F.:]*' \
      -exec grep -aHZ '' {} +
  } | tr '\000' '\t' | sed "s|^[^$TAB]*/||"
}

contents() {
  for dir in $(networks); do
    printf '@%s\n' "${dir#"$R"}"
    read_contents "$dir"
  done
}
