#!/bin/sh
# Puts the two scripts, their forced command, the sudo rules and both keys on a node, owned by root. Run it on the node as
# root, from the folder it was shipped in; run it again with each new version. Existing users are kept.
#   install-node.sh --read-key read-key.pub --repair-key repair-key.pub [--destdir DIR]
# With --destdir it fills a tree, for a node image: no users are made, and nothing else of the machine is touched.
set -eu
LC_ALL=C
export LC_ALL
umask 022

refuse() { echo "install-node: $*" >&2; exit 64; }
READ= REPAIR= DEST=
while [ $# -gt 0 ]; do
  [ $# -gt 1 ] || refuse "$1 needs a value"
  case $1 in
    --read-key) READ=$2 ;; --repair-key) REPAIR=$2 ;; --destdir) DEST=$2 ;;
    *) refuse "unknown option $1" ;;
  esac
  shift 2
done
[ "$(id -u)" = 0 ] || refuse 'run it as root: what it installs must belong to root'
HERE=$(dirname -- "$0")
LIB=/usr/local/lib/cnibot

# One line of OpenSSH's public form, without options of its own in front.
public_key() {
  [ -f "$1" ] || refuse "$2: ${1:-nothing} is no file; give the public key"
  [ "$(grep -c . "$1")" = 1 ] && ssh-keygen -l -f "$1" >/dev/null 2>&1 || refuse "$2: $1 is not one public key"
  grep -E '^(sk-)?(ssh|ecdsa)-[a-z0-9@.-]+ [A-Za-z0-9+/=]+( [^"]*)?$' "$1" || refuse "$2: $1 is not one plain public key"
}
read_key=$(public_key "$READ" --read-key)
repair_key=$(public_key "$REPAIR" --repair-key)
[ "$(echo "$read_key" | cut -d ' ' -f 2)" != "$(echo "$repair_key" | cut -d ' ' -f 2)" ] ||
  refuse 'reading and repairing need two keys, and these are the same'
command -v visudo >/dev/null || refuse 'visudo is missing: install sudo 1.9.10 or later'
visudo -qcf "$HERE/sudoers-installed.example" || refuse 'the sudo rules are not accepted by this sudo; it must be 1.9.10 or later'

home_of() { if [ -n "$DEST" ]; then echo "/home/$1"; else getent passwd "$1" | cut -d : -f 6; fi; }
# Whatever a kept user has made there must not stand beside the forced command.
for user in cnibot-probe cnibot-repair; do
  home=$(home_of "$user")
  case $home in / | /root) refuse "$user has $home as its home; give it one of its own" ;; '') continue ;; esac
  ssh=$DEST$home/.ssh
  [ ! -L "$ssh" ] || refuse "$ssh leads elsewhere; remove it"
  [ ! -e "$ssh/authorized_keys2" ] && [ ! -L "$ssh/authorized_keys2" ] ||
    refuse "$ssh/authorized_keys2 would let keys in without the forced command; remove it"
done

put() { install -D -o 0 -g 0 -m "$1" "$2" "$DEST$3"; }
made=$(mktemp)
trap 'rm -f "$made"' EXIT
install -d -o 0 -g 0 -m 0755 "$DEST$LIB"
cat "$HERE/probe.sh" "$HERE/probe-runtime.sh" "$HERE/probe-journal.sh" >"$made"
put 0755 "$made" $LIB/probe
put 0755 "$HERE/remove-orphans.sh" $LIB/remove-orphans
put 0755 "$HERE/dispatch.sh" $LIB/dispatch

# The keys lie where their users cannot change them: not even the home is theirs, since its owner can rename .ssh.
identity() {
  user=$1 may=$2 key=$3
  [ -n "$DEST" ] || id -u "$user" >/dev/null 2>&1 ||
    useradd --system --create-home --shell /bin/sh --password '*' "$user"
  home=$(home_of "$user")
  install -d -o 0 -g 0 -m 0755 "$DEST$home" "$DEST$home/.ssh"
  printf 'restrict,command="%s/dispatch %s" %s\n' $LIB "$may" "$key" >"$made"
  put 0644 "$made" "$home/.ssh/authorized_keys"
}
identity cnibot-probe probe "$read_key"
identity cnibot-repair remove-orphans "$repair_key"
# Last: until here nothing of it can run as root.
put 0440 "$HERE/sudoers-installed.example" /etc/sudoers.d/cnibot
(cd "$DEST$LIB" && sha256sum probe remove-orphans)
