# The last part of the probe: journals, then the order in which everything is asked.

# Keeps lines about ADD and DEL, and starts; of each kind the first and the last half of what is allowed.
# What a line says exactly is decided by the reader: this filter may let too much through, never too little.
cni_lines() {
  awk -v unit="$1" -v most="$MOST" '
    function keep(kind, allowed) {
      half[kind] = int(allowed / 2) + 1
      if (++n[kind] <= half[kind]) print unit "\t" substr($0, 1, 900)
      else ring[kind, n[kind] % half[kind]] = substr($0, 1, 900)
    }
    /^!code [0-9]+$/ { code = $2; next }
    {
      low = tolower($0)
      if (low ~ /systemd\[1\]: started |starting containerd|kubelet version|starting cri-o|starting k3s|starting rke2/) { keep("start", 400); next }
      if (low ~ /returns sandbox id|ran pod sandbox/) { keep("added", most / 8); next }
      if (low !~ /fail|error/) next
      if (low ~ /destroy network|teardown|tear down|clean up sandbox|error deleting|stopping network|stoppodsandbox|stop sandbox|killpodsandbox|stopping the pod sandbox|\(delete\)|from cni network/) keep("del", most)
      else if (low ~ /set ?up |create pod |createpodsandbox|runpodsandbox|error adding|\(add\)|allocate for range|no ip addresses|setupnetwork|create sandbox|readinessindicatorfile/) keep("add", most / 4)
    }
    END {
      for (kind in n) {
        first = n[kind] - half[kind] + 1
        if (first <= half[kind]) first = half[kind] + 1
        for (i = first; i <= n[kind]; i++) print unit "\t" ring[kind, i % half[kind]]
        dropped += first - half[kind] - 1 < 0 ? 0 : first - half[kind] - 1
      }
      print "!" unit "\t" code + 0 "\t" dropped + 0
    }'
}

journal() {
  printf 'window %s %s\n' "$FIRST" "$LAST"
  result=0
  if installed journalctl; then
    for unit in $UNITS; do
      { root journalctl -q --no-pager -u "$unit" -S "@$FIRST" -U "@$LAST" -o short-unix; echo "!code $?"; } | cni_lines "$unit"
      printf 'oldest\t%s\t%s\n' "$unit" "$(root journalctl -q --no-pager -u "$unit" -o short-unix 2>/dev/null | head -n 1 | cut -c 1-200)"
    done
  else
    result=127
  fi
  # k3s and RKE2 keep containerd's log, and RKE2 the kubelet's, in files.
  for file in /var/lib/rancher/k3s/agent/containerd/containerd.log /var/lib/rancher/rke2/agent/containerd/containerd.log \
    /var/lib/rancher/rke2/agent/logs/kubelet.log; do
    [ -e "$R$file" ] || continue
    { reading "$R$file" cat "$R$file"; echo "!code $?"; } | cni_lines "$file"
    printf 'oldest\t%s\t%s\n' "$file" "$(reading "$R$file" head -n 1 "$R$file" | cut -c 1-200)"
    result=0
  done
  return $result
}

restarts() {
  unit_starts
  # What systemd calls a list of boots differs by version; the reader takes the first time of each line.
  root journalctl -q --no-pager --list-boots 2>/dev/null | tail -n 50 | sed 's/^/boot /'
  return 0
}

# Allocations first, sandboxes second, the runtime's own records third: the other order takes Pods that are
# starting for leaks.
main() {
  read_arguments "$@"
  exec 3>&1
  find_endpoint
  section host host
  section conflist conflists
  section stores stores
  section contents contents
  ask_runtime
  section runtime runtime
  section sandboxes sandboxes
  section records records
  SAMPLE=
  case ",$SKIP," in *,owners,*) ;; *) SAMPLE=$(pick_samples) ;; esac
  section owners owners
  section held held
  # Times are whole seconds: one more, or the second that is running is left out.
  LAST=${UNTIL:-$(($(date +%s) + 1))}
  FIRST=${SINCE:-$((LAST - WINDOW))}
  oldest=$(printf '%s\n' "$SAMPLE" | sed -n 's/^oldest \([0-9]*\).*/\1/p')
  # An hour earlier than the oldest leak, so that what happened before it is in sight.
  if [ -z "$SINCE" ] && [ -n "$oldest" ] && [ $((oldest - 3600)) -lt "$FIRST" ]; then FIRST=$((oldest - 3600)); fi
  section journal journal
  section restarts restarts
  section leftovers leftovers
  printf '>end %s\n' "$(date +%s.%N)"
}
main "$@" </dev/null
