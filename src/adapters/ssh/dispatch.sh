#!/bin/sh
# The forced command of both keys: the one may run `probe`, the other `remove-orphans`, in one fixed form each.
#   authorized_keys: restrict,command="/usr/local/lib/cnibot/dispatch probe" ssh-ed25519 AAAA…
# What was asked for arrives as text in SSH_ORIGINAL_COMMAND. It is never evaluated: only plain characters pass, it is
# split at blanks, and its words are compared. The scripts lie beside this one, owned by root, and are the ones that were
# asked for by digest.
# Exit codes: 77 this key may not ask for that, 78 what is installed here is not what was asked for. Nothing ran then.
set -uf
LC_ALL=C IFS=' '
PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
export LC_ALL PATH
HERE=${0%/*}

refuse() { code=$1; shift; echo "dispatch: $*" >&2; exit "$code"; }

MAY=${1:-}
case $MAY in probe | remove-orphans) ;; *) refuse 77 'the line in authorized_keys must name probe or remove-orphans' ;; esac
ASKED=${SSH_ORIGINAL_COMMAND:-}
case $ASKED in
  '') refuse 77 "this key opens no shell, it runs $MAY" ;;
  *[!A-Za-z0-9\ ._:/-]* | *..*) refuse 77 'a character that no command here has' ;;
esac
DIGEST=${ASKED##* }
[ ${#DIGEST} -eq 64 ] || refuse 77 'the last word must be the digest of the script'
case $DIGEST in *[!0-9a-f]*) refuse 77 'the last word must be the digest of the script' ;; esac
case "$MAY $ASKED" in
  "probe probe --script-digest $DIGEST") set -- ;;
  "probe probe --light --script-digest $DIGEST") set -- --light ;;
  "remove-orphans remove-orphans remove --"*" --script-digest $DIGEST" | \
    "remove-orphans remove-orphans restore --"*" --script-digest $DIGEST")
    set -- $ASKED
    shift
    ;;
  *) refuse 77 "this key runs $MAY in its fixed form, and nothing else" ;;
esac

SCRIPT=$HERE/$MAY
[ -f "$SCRIPT" ] && [ ! -L "$SCRIPT" ] || refuse 78 "$SCRIPT is not installed; run install-node.sh"
case $(find "$HERE" "$SCRIPT" -maxdepth 0 -user 0 ! -perm /022 -printf x) in
  xx) ;;
  *) refuse 78 "$SCRIPT and its folder must belong to root, and nobody else may write there; run install-node.sh" ;;
esac
mine=$(sha256sum <"$SCRIPT")
[ "${mine%% *}" = "$DIGEST" ] ||
  refuse 78 "$MAY is installed as sha256 ${mine%% *}, asked for was $DIGEST; run install-node.sh of the version that asks"

# On the node it ends after two minutes, whatever becomes of the connection.
exec timeout -k 5 120 sudo -n "$SCRIPT" "$@"
