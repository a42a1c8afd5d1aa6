import type { Action, Advice } from '../rule.js'
import { hostLocalLeakAdvice } from './addresses-leak.js'
import { fullAdvice, poolLeakAdvice } from './addresses-pools.js'

const act = (kind: Action['kind'], why: string): Action => ({ kind, why })

const force =
  'Do not force-delete the Pods: the API forgets them, the node keeps their sandbox, their address and the failing teardown.'
const restart = 'Do not restart the kubelet and hope: the same teardown fails again.'
const listed =
  'Do not remove address files of sandboxes that are still listed: they are not orphans, their teardown gives them back.'

const teardown = (way: string | undefined, actions: Action[], more: string[] = []): Advice => ({
  cause: 'cni-del-failing',
  ...(way === undefined ? {} : { way }),
  actions: [
    ...actions,
    act('wait', 'Let the kubelet repeat the teardown: it does so by itself, every few seconds to minutes.'),
    act('look', 'Then check that the sandboxes are gone and their addresses given back.'),
  ],
  warnings: [...more, force, restart, listed],
  askFor: [
    "the runtime's whole message of one failed teardown",
    'which sandboxes are NotReady',
    "the plugin's own log of that minute",
  ],
  escalateTo: 'platform',
})

const teardownAdvice: Advice[] = [
  teardown(undefined, [
    act('look', 'Read the innermost part of the teardown message: the plugin named there is what refuses.'),
    act(
      'fix',
      'Mend what that plugin needs: an interface or rule it expects, its agent, a version with the fix.',
    ),
  ]),
  teardown(
    'damaged-cache',
    [
      act('look', 'List the notes of 0 bytes of exactly the sandboxes in question.'),
      act('fix', 'Move exactly these damaged notes away, nothing else.'),
      act(
        'fix',
        'Upgrade to a runtime whose libcni ignores damaged entries (containerd 2.0, CRI-O 1.31), and clear the cache at boot.',
      ),
    ],
    [
      'Do not delete the whole results folder: only the damaged notes are in the way, and chained plugins use the others in teardown.',
    ],
  ),
  teardown('no-cniversion', [
    act(
      'fix',
      'Write a cniVersion that every plugin of the chain knows into the configuration, at its source.',
    ),
  ]),
  teardown('chained-plugin-missing', [
    act('fix', 'Put the missing plugin binary or host tool back on the node; teardown stops at it.'),
  ]),
  teardown('agent-refuses-del', [
    act('fix', 'Mend the network agent or its credential on the node first: teardown asks it.'),
  ]),
]

const again = 'Do not run the clean-up again: it frees addresses of living Pods.'
const both = 'Do not restart both Pods at once: keep the holder whose reservation stands.'

const double = (way: string | undefined, actions: Action[], more: string[]): Advice => ({
  cause: 'duplicate-ip',
  ...(way === undefined ? {} : { way }),
  actions,
  warnings: [
    ...more,
    both,
    'Do not look for it in the switches first: two Pods hold one address by reservation.',
  ],
  askFor: [
    'all Pods sorted by address, with who uses the host network',
    'the reservation of that address and its owner',
    'what freed addresses shortly before',
  ],
  escalateTo: 'platform',
})

const doubleAdvice: Advice[] = [
  double(
    undefined,
    [
      act(
        'look',
        'Find which of the Pods owns the reservation: the other one got the address after it was freed.',
      ),
      act(
        'recreate-pod',
        'Re-create the Pod that has no reservation of its own, so that it gets another address.',
      ),
      act('look', 'Find what freed the reservation: a clean-up, a wiped store, two nodes with one range.'),
    ],
    ['Do not clean reservations again before it is known what freed this one.'],
  ),
  double(
    'reconciler',
    [
      act('fix', 'Stop the clean-up job that gave the address back.'),
      act(
        'recreate-pod',
        'Re-create the later holder, and see that the reservation of the first one exists again.',
      ),
      act(
        'fix',
        'Upgrade to a clean-up that reads reservations first, then the living, and looks again before it deletes.',
      ),
    ],
    [again],
  ),
  double(
    'wiped',
    [
      act('cordon', 'Cordon the node: every new Pod there may get an address that a living one uses.'),
      act('look', 'List the living sandboxes whose address has no reservation.'),
      act(
        'recreate-pod',
        'Re-create those Pods, one after the other, so that each gets an address with a reservation; or drain the node.',
      ),
      act('uncordon', 'Uncordon only when every living sandbox owns a reservation.'),
    ],
    [
      'Do not wipe the store again, and restart neither kubelet nor runtime before the store lies where a restart keeps it.',
    ],
  ),
]

const name = (way: string | undefined, first: Action[], more: string[]): Advice => ({
  cause: 'sandbox-name-conflict',
  ...(way === undefined ? {} : { way }),
  actions: [...first, act('look', 'Watch for network state that the abandoned attempt left behind.')],
  warnings: [
    ...more,
    'Do not rename or force-delete Pods in a loop: the reservation is not theirs.',
    "Do not wipe the runtime's state folder.",
    "Do not restart only the kubelet: the reservation is in the runtime's memory.",
  ],
  askFor: [
    "a dump of the runtime's stacks",
    'disk latency at the first attempt',
    'the CNI log of the first attempt',
  ],
  escalateTo: 'platform',
})

const nameAdvice: Advice[] = [
  name(
    undefined,
    [
      act(
        'look',
        'Find what the first request waits for: a stack dump of the runtime, disk latency, a network plugin that hangs.',
      ),
      act('wait', 'Give it a few minutes: when the first attempt ends, the name is free again.'),
      act(
        'restart-unit',
        'If it never ends, cordon the node and restart the container runtime there (running containers survive), then let the kubelet try again.',
      ),
    ],
    [],
  ),
  name(
    'dead-holder',
    [
      act(
        'fix',
        'Remove exactly the dead sandbox that has the name (stop, then remove it by its id), once the clock of the node is right.',
      ),
      act(
        'fix',
        'If the clock jumped at boot, let the kubelet and the runtime start after time synchronisation.',
      ),
    ],
    ['Do not blame the network plugin: it is never reached.'],
  ),
  name(
    'docker',
    [
      act('look', 'Look at the container that has the name: running, dead or half removed.'),
      act('fix', 'Remove exactly that dead sandbox container, if its Pod is gone or it never started.'),
    ],
    ['Do not prune all stopped containers: exited sandboxes still own addresses.'],
  ),
]

export const addressesAdvice: Advice[] = [
  ...hostLocalLeakAdvice,
  ...poolLeakAdvice,
  ...fullAdvice,
  ...teardownAdvice,
  ...doubleAdvice,
  ...nameAdvice,
]
