# The second part of the probe: the container runtime, and what on the node still holds an address.

kubelet_flags() {
  comm=$(grep -lsx kubelet "$R"/proc/[0-9]*/comm | head -n 1)
  [ -z "$comm" ] || tr '\000' '\n' <"${comm%/comm}/cmdline"
}
option() { printf '%s\n' "$FLAGS" | sed -n "s/^--$1=//p; /^--$1\$/{n;p;}" | head -n 1; }

# Sets EP and FROM. The command line wins over the file, as in the kubelet.
find_endpoint() {
  FLAGS=$(kubelet_flags 2>/dev/null)
  EP=$(option container-runtime-endpoint) FROM="the kubelet's command line"
  if [ -z "$EP" ]; then
    FROM=$(option config)
    FROM=${FROM:-/var/lib/kubelet/config.yaml}
    [ ! -e "$R$FROM" ] || EP=$(reading "$R$FROM" sed -n 's/^containerRuntimeEndpoint:[[:space:]]*//p' "$R$FROM" 2>/dev/null | head -n 1 | tr -d "\"' \r")
  fi
  for file in /var/lib/kubelet/kubeadm-flags.env /etc/default/kubelet /etc/sysconfig/kubelet; do
    [ -z "$EP" ] && [ -r "$R$file" ] || continue
    EP=$(grep -o -e '--container-runtime-endpoint=[^" ]*' "$R$file" | sed 's/^[^=]*=//' | head -n 1) FROM=$file
  done
  for socket in /run/k3s/containerd/containerd.sock /run/k0s/containerd.sock /var/snap/microk8s/common/run/containerd.sock \
    /run/containerd/containerd.sock /run/crio/crio.sock /run/cri-dockerd.sock; do
    [ -z "$EP" ] && [ -e "$R$socket" ] || continue
    EP=unix://$socket FROM='a known default path'
  done
  case $EP in /*) EP=unix://$EP ;; esac
  SOCKET=${EP#unix://}
  case $EP in unix:///*) case $SOCKET in *[!A-Za-z0-9._/-]*) EP= ;; esac ;; *) EP= ;; esac
  [ ! -S "$R$SOCKET" ] || SOCKET=$R$SOCKET
  CRICTL=crictl CTR=ctr
  command -v crictl >/dev/null || ! command -v k3s >/dev/null || CRICTL='k3s crictl'
  command -v ctr >/dev/null || ! command -v k3s >/dev/null || CTR='k3s ctr'
  case $EP in
    *k3s*) if [ -d "$R/var/lib/rancher/rke2" ]; then UNITS='rke2-server rke2-agent'; else UNITS='k3s k3s-agent'; fi ;;
    *crio*) UNITS='crio kubelet' ;;
    *dockerd*) UNITS='cri-docker docker kubelet' ;;
    *k0s*) UNITS='k0sworker k0scontroller' ;;
    *microk8s*) UNITS='snap.microk8s.daemon-containerd snap.microk8s.daemon-kubelite' ;;
    *) UNITS='containerd kubelet' ;;
  esac
}

# Sets SAYS and DOWN once, so that a runtime that hangs costs one time limit and not one for each question.
ask_runtime() {
  DOWN=
  SAYS=$(cri version 2>&1) || DOWN=$?
}
cri() {
  [ -n "$EP" ] || { echo "no runtime endpoint in the kubelet's command line or configuration, and no known socket" >&2; return 1; }
  installed "${CRICTL%% *}" || return
  [ -z "$DOWN" ] || { printf '%s\n' "$SAYS" >&2; return "$DOWN"; }
  root $CRICTL -r "unix://$SOCKET" -t 10s "$@"
}

unit_starts() {
  installed systemctl || return
  for unit in $UNITS; do
    shown=$(limited systemctl show "$unit" -p LoadState -p ActiveState -p ExecMainStartTimestamp -p ActiveEnterTimestamp \
      -p NRestarts --timestamp=unix 2>/dev/null) ||
      shown=$(limited systemctl show "$unit" -p LoadState -p ActiveState -p ExecMainStartTimestamp -p ActiveEnterTimestamp -p NRestarts) ||
      return
    printf '%s\n' "$shown" | sed "s/^/$unit /"
  done
}

runtime() {
  printf 'endpoint %s\nfrom %s\n' "$EP" "$FROM"
  [ -z "$DOWN" ] || { printf '%s\n' "$SAYS" >&2; return "$DOWN"; }
  printf '%s\n' "$SAYS"
}
sandboxes() { cri pods -o json; }

# Each source: `@command`, what it printed, `!exit code`. The reader knows which of them a version must have.
records() {
  [ -z "$DOWN" ] || { printf '%s\n' "$SAYS" >&2; return "$DOWN"; }
  ask() { printf '@%s\n' "$1"; shift; "$@"; printf '!%s\n' "$?"; }
  case $EP in
    *crio*)
      dir=$(sed -n 's/^[[:space:]]*graphroot[[:space:]]*=[[:space:]]*"\(\/[A-Za-z0-9._\/-]*\)".*/\1/p' "$R/etc/containers/storage.conf" 2>/dev/null | head -n 1)
      dir=${dir:-/var/lib/containers/storage}/overlay-containers
      ask "$dir" reading "$R$dir" find "$R$dir" -mindepth 1 -maxdepth 1 -type d -printf '%f\n'
      ;;
    *dockerd*)
      installed docker || return
      ask 'docker ps -aq' root docker ps -aq --no-trunc --filter label=io.kubernetes.docker.type=podsandbox
      ;;
    *)
      installed "${CTR%% *}" || return
      ask 'ctr -n k8s.io containers ls' root $CTR -a "$SOCKET" -n k8s.io containers ls -q
      ask 'ctr -n k8s.io sandboxes ls' root $CTR -a "$SOCKET" -n k8s.io sandboxes ls
      ;;
  esac
}

# `oldest EPOCH` of the files whose owner is not listed, a few of those spread over all, and one live one.
pick_samples() {
  {
    cri pods -q 2>/dev/null
    echo --
    for dir in $(networks 2>/dev/null); do
      reading "$dir" find -H "$dir" -maxdepth 1 -type f -name '[0-9a-fA-F]*' ! -name '*[!0-9a-fA-F.:]*' -printf 'M\t%f\t%T@\n'
      read_contents "$dir"
    done
  } 2>/dev/null | awk -F '\t' -v want="$SAMPLES" '
    !ready { if ($0 == "--") ready = 1; else listed[$1] = 1; next }
    $1 == "M" { made[$2] = $3; next }
    $1 in seen { next }
    {
      seen[$1] = 1
      sub(/\r$/, "", $2)
      if (length($2) != 64 || $2 ~ /[^0-9a-f]/) next
      if ($2 in listed) { live = $1 " " $2; next }
      unlisted[++n] = $1 " " $2
      if ($1 in made && (oldest == "" || made[$1] + 0 < oldest + 0)) oldest = made[$1]
    }
    END {
      if (oldest != "") print "oldest " oldest
      if (want > n) want = n
      for (i = 1; i <= want; i++) print unlisted[want == 1 ? 1 : 1 + int((i - 1) * (n - 1) / (want - 1))]
      if (live != "") print live
    }'
}

# Owners are sandboxes, so `inspectp`: `crictl inspect` knows containers only.
owners() {
  [ -z "$DOWN" ] || { printf '%s\n' "$SAYS" >&2; return "$DOWN"; }
  printf '%s\n' "$SAMPLE" | while read -r ip id; do
    [ "${#id}" -eq 64 ] || continue
    answer=$(cri inspectp -o json "$id" 2>&1)
    code=$?
    [ "$code" -ne 0 ] || answer=$(printf '%s' "$answer" | grep -o '"state": *"[A-Z_]*"' | head -n 1)
    printf '%s\t%s\t%s\t%s\n' "$ip" "$id" "$code" "$(printf '%s' "$answer" | head -n 1 | tr -d '\t')"
  done
}

held() {
  installed ip || return
  result=0
  for file in "$R"/run/netns/*; do
    [ -e "$file" ] || continue
    name=${file##*/}
    [ -z "$R" ] || name=$file
    printf '@namespace %s\n' "${file##*/}"
    root ip -n "$name" -j addr && continue
    # Gone meanwhile, or a plain file that a namespace left behind: neither holds anything.
    [ -e "$file" ] && [ "$(stat -f -c %T "$file" 2>/dev/null)" = nsfs ] && result=1
  done
  known=" $(readlink /proc/self/ns/net) $(stat -L -c 'net:[%i]' "$R"/run/netns/* 2>/dev/null | tr '\n' ' ') "
  # Namespaces that no file in /run/netns names, as docker's: by the processes inside them.
  spaces=$(root find "$R/proc" -maxdepth 3 -path "$R/proc/[0-9]*/*" ! -path "$R/proc/[0-9]*/ns" \
    ! -path "$R/proc/[0-9]*/ns/net" -prune -o -path "$R/proc/[0-9]*/ns/net" -printf '%l %p\n' 2>/dev/null | awk '!seen[$1]++')
  if [ -z "$spaces" ] && [ -L "$R/proc/self" ]; then
    echo 'the network namespaces of processes cannot be listed' >&2
    result=1
  fi
  while read -r ns file; do
    case $known in *" $ns "*) continue ;; esac
    [ -n "$file" ] || continue
    printf '@namespace %s\n' "${file#"$R"}"
    root nsenter --net="$file" ip -j addr || [ ! -e "$file" ] || result=1
  done <<END
$spaces
END
  echo '@neighbour'; root ip -j neigh || result=1
  echo '@route'; root ip -j route || result=1
  echo '@route'; root ip -j -6 route 2>/dev/null
  echo '@host'; root ip -j addr || result=1
  return $result
}

leftovers() {
  echo '@links'
  limited ip -j link
  echo '@nat'
  rules=$(root iptables -t nat -S) && printf '%s\n' "$rules" | grep -c '^-N CNI-'
  for dir in /var/lib/cni/results /var/lib/cni/cache/results; do
    [ -e "$R$dir" ] || continue
    printf '@results %s\n' "$dir"
    reading "$R$dir" find "$R$dir" -mindepth 1 -maxdepth 1 -type f -printf '%s\n' | awk '{ n++ } $1 == 0 { e++ } END { print n + 0, e + 0 }'
  done
  return 0
}
