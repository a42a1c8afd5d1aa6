type Row<Shows> = [id: string, what: string, shows: Shows]

/** What the bundle of the full node must show: the requirement, in words, and what a person reads in the thread. */
export const evidenceRows: Row<RegExp[]>[] = [
  [
    'P-E1',
    'the event with count and span, folded ones too, and the message read: plugin, range, range set',
    [
      /^\*Error:\* \*(1[4-9]|[2-9]\d|\d{3})× in 4[01] min\*, the server folds them: `plugin type="bridge" failed \(add\)/m,
      /plugin bridge, range 0, range set 10\.244\.7\.1-10\.244\.7\.254/,
      /Pods: platform\/node-exporter-/,
    ],
  ],
  [
    'P-E2',
    'all conditions, and what Ready does not say',
    [/\*Ready=True\*, MemoryPressure=False, DiskPressure=False, PIDPressure=False/, /says nothing about/],
  ],
  [
    'P-E3',
    'addresses against what the range can give, bookkeeping told apart',
    [/\*253 of 253\* taken in 10\.244\.7\.0\/24 \(network k8s-pod-network\)/, /wc -l` says 255: 2 are book/],
  ],
  [
    'P-E4',
    'sandboxes by state, and how many of them own an address',
    [/\*12\* listed: 12 ready, 0 not ready, 2 on the host network.*; 10 addresses belong to one/],
  ],
  [
    'P-E5',
    'owners of some orphans, and what the runtime says of them',
    [/\*A sample:\* 10\.244\.7\.\d+ → `[0-9a-f]{13}…` eth0, made 15 days ago/, /knows none of these/],
  ],
  [
    'P-E6',
    'two peers beside it',
    [/^node-04 {2}\d+ of 253 {2}\d+ {2}0$/m, /^node-11 {2}\d+ of 253 {2}\d+ {2}0$/m],
  ],
  [
    'P-E7',
    'DEL failures by unit with their band, and how far the journal reaches',
    [
      /containerd: \*187 lines\* `▁*█▁+` 3 Nov 02:05–02:55/,
      /journal reaches back to .* further than the old/,
    ],
  ],
  [
    'P-E8',
    'Pods against maxPods, and why the scheduler prefers the node',
    [/\*\d+ of 110\* on the node\. The scheduler counts Pods, not addresses/],
  ],
  [
    'P-E9',
    'when the orphans were made, beside the restarts of that time',
    [
      /orphans were made:\* `▁*█▁+` \*15 days ago, 3 Nov 02:05–02:35 \(243 of 243\)\*/,
      /\*Restarts:\* containerd \*3 Nov 02:05, 3 Nov 02:20, 3 Nov 02:35\*/,
    ],
  ],
  ['P-R1', 'the plugin answers, it is not broken', [/The plugin runs and answers: it has no address left/]],
  [
    'P-A5',
    'veths and NAT chains are counted and left',
    [/Leftovers:\* .* veths .* CNI- chains .*left alone/],
  ],
]

/** What the run card shows at its end, one line a step. */
export const cardRows: Row<RegExp>[] = [
  [
    'P-A7',
    'only our cordon is lifted, and a Pod is made on the node',
    /✓ Uncordon node-07 .* schedulable again/,
  ],
  [
    'P-V1',
    'addresses and sandboxes match by id',
    /✓ addresses match sandboxes .*node-07: (\d+) addresses, \1 with a living sandbox: \1 = \1/,
  ],
  [
    'P-V2',
    'the test Pod runs with an address of the range',
    /✓ Test Pod on node-07 .*ran with 10\.244\.7\.\d+;/,
  ],
  ['P-V3', 'exactly its address comes back', /through the scheduler .*address came back: (\d+) → \d+/],
  [
    'P-V4',
    'ADDs succeed, DELs do not fail',
    /✓ no new DEL failures .*no DEL failures since .*; \d ADDs succ/,
  ],
  ['P-V5', 'the DaemonSet is complete', /✓ DaemonSets complete .*platform\/node-exporter: 4 of 4/],
]
