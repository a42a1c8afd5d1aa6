import type { Action, Advice } from '../rule.js'

const cordon: Action = {
  kind: 'cordon',
  why: 'Cordon the node: it looks empty to the scheduler, so every new Pod would come here and wait.',
}
const compare: Action = {
  kind: 'look',
  why: 'Write down which address files have an owner in no sandbox list (list the files first, then the sandboxes of every state, NotReady ones too).',
}
const remove: Action = {
  kind: 'remove-orphans',
  why: 'Remove only those files whose owner is gone, from the written list, and keep every file whose sandbox is listed.',
}
const prove: Action = {
  kind: 'test-pod',
  why: 'Start a test Pod on the node and delete it: its address must come back, else the leak is still at work.',
}
const why: Action = {
  kind: 'look',
  why: "Search the runtime's and the kubelet's journal for failed teardown before calling it repaired: what leaked once leaks again.",
}
const recount: Action = {
  kind: 'wait',
  why: 'Count again a day later, and keep the incident open until both numbers agree.',
}

const warnings = [
  'Do not empty the folder of address files while Pods run: living Pods lose their reservation and two Pods get one address.',
  'Do not delete the stuck Pods as a repair: they start elsewhere and the node stays as it is.',
  'Do not restart the kubelet or the runtime for this: it frees no address and can lose more.',
  'Do not subtract totals or go by file dates alone: host-network sandboxes own none, NotReady ones may own one; only owner ids tell.',
  'Do not close this when the first Pod starts: a leak whose cause is not found fills the range again.',
]
const askFor = [
  'owner ids inside the address files, and the ids of all sandboxes',
  'journal of the runtime and the kubelet about failed teardown',
]

const leak = (
  way: string | undefined,
  actions: Action[],
  more: string[] = [],
  escalateTo?: string,
): Advice => ({
  cause: 'ipam-leak',
  ...(way === undefined ? {} : { way }),
  actions,
  warnings: [...more, ...warnings],
  askFor,
  escalateTo,
})

const fix = (text: string): Action => ({ kind: 'fix', why: text })
const look = (text: string): Action => ({ kind: 'look', why: text })

export const hostLocalLeakAdvice: Advice[] = [
  leak(undefined, [cordon, compare, remove, prove, why, recount]),
  leak(
    'empty-files',
    [
      look(
        'For every empty file check that no network namespace on the node carries that address and that no Pod in the API claims it; leave young files alone, an ADD may be writing.',
      ),
      {
        kind: 'remove-orphans',
        why: 'Remove the empty files that nobody uses; files with a living owner stay.',
      },
      fix('Find out why the write failed (disk full, read-only, crash) and alert on it, or more will come.'),
      prove,
    ],
    [
      'Do not leave empty files out because their owner is unknown: no teardown will ever match them.',
      'Do not remove all empty files unseen: a file can be empty after a crash although its Pod runs.',
    ],
  ),
  leak(
    'reboot',
    [
      compare,
      {
        kind: 'remove-orphans',
        why: 'Remove the files whose owner no sandbox list has; let the runtime tear its NotReady sandboxes down first and see whether theirs come back.',
      },
      fix(
        'Before the next reboot put the store on a path that is emptied at boot, or reset it in a unit that runs before the kubelet: each reboot costs as many addresses as Pods ran.',
      ),
      prove,
      look('Count the other nodes that were rebooted.'),
    ],
    ['Do not remove by date: a file from before the boot may belong to a sandbox that is still listed.'],
  ),
  leak(
    'process-exhaustion',
    [
      cordon,
      look(
        'Find what eats processes and threads (count per process and cgroup): without a free process id no plugin runs, neither to set up nor to tear down.',
      ),
      {
        kind: 'drain',
        why: 'Replace the node if it can be had again cheaply, or stop what leaks processes first.',
      },
      { kind: 'remove-orphans', why: 'Only then give the addresses of dead owners back, by owner id.' },
      fix('Alert on the number of threads: the PIDPressure condition did not tell.'),
    ],
    [
      'Do not clean the addresses and leave what eats the processes: it fills again.',
      'Do not take PIDPressure=False as proof that processes are free.',
      'Do not exchange the plugin binary for an answer without text: it could not be started.',
    ],
    'platform',
  ),
  leak(
    'expired-context',
    [
      cordon,
      fix(
        'Upgrade the runtime to a release that cleans up with a context of its own, and find why sandboxes start so slowly (runc, disk, load).',
      ),
      compare,
      {
        kind: 'remove-orphans',
        why: 'Give addresses of dead owners back by owner id, or drain the node and clear the store while the runtime is exchanged.',
      },
      prove,
      look('Watch for new lines of failed teardown after the upgrade.'),
    ],
    [
      'Do not clean up and keep that runtime version: the next slow start leaks again.',
      'Do not blame the network plugin: it was never called.',
    ],
    'platform',
  ),
  leak(
    'runtime-skips-del',
    [
      cordon,
      compare,
      remove,
      prove,
      fix(
        'Upgrade the runtime to the release named in the evidence: this version sends no teardown for a sandbox whose setup was cut short, and logs nothing.',
      ),
      recount,
    ],
    ['Do not take a quiet journal as proof that nothing leaks: teardown that is never sent leaves no line.'],
    'platform',
  ),
  leak('runtime-gives-up', [
    cordon,
    compare,
    remove,
    prove,
    fix(
      'Mend what makes teardown fail: this runtime tries once and forgets the network, so every failure leaks an address.',
    ),
    recount,
  ]),
  leak(
    'no-cniversion',
    [
      fix(
        "Write a valid cniVersion into the network configuration at its source (the agent's ConfigMap), so that every node gets it.",
      ),
      prove,
      compare,
      {
        kind: 'remove-orphans',
        why: 'Then remove the files whose owner is gone, before the range is used up.',
      },
      recount,
    ],
    [
      'Do not wait until Pods fail: it fills with every Pod that ends.',
      'Do not clean the files without mending the configuration.',
      'Do not remove leftover veth interfaces in the same change.',
    ],
    'platform',
  ),
  leak(
    'damaged-cache',
    [
      look('Find the notes of 0 bytes of exactly those sandboxes (result cache, flannel or multus folder).'),
      fix('Move exactly these damaged notes away and let the kubelet try the teardown again.'),
      compare,
      {
        kind: 'remove-orphans',
        why: 'Remove files whose owner is in no sandbox list; those still listed come back by themselves.',
      },
      fix('Upgrade to a runtime whose libcni ignores damaged entries, and clear the cache at boot.'),
    ],
    ['Do not delete the whole cache folder: chained plugins use what is stored there in teardown.'],
    'platform',
  ),
  leak(
    'chained-plugin-missing',
    [
      cordon,
      fix(
        'Put the missing plugin binary or host tool back: each setup that fails keeps its address, and teardown stops before the address manager.',
      ),
      prove,
      compare,
      remove,
    ],
    ['Do not clean up before the missing binary is back: every retry takes another address.'],
    'platform',
  ),
  leak(
    'agent-refuses-del',
    [
      fix(
        'Mend the network agent or its credential first: it must answer before addresses can be given back.',
      ),
      look('Let the kubelet repeat the teardown and see which addresses come back.'),
      compare,
      remove,
      prove,
    ],
    ['Do not remove files while the agent is down: its teardown comes through once it answers.'],
    'platform',
  ),
  leak(
    'runtime-restart',
    [
      cordon,
      compare,
      remove,
      prove,
      fix(
        'Drain a node before its runtime is upgraded or exchanged: sandboxes of the old one are never torn down.',
      ),
      recount,
    ],
    ['Do not call the range simply full because most addresses are in use: those without owner come back.'],
  ),
]
