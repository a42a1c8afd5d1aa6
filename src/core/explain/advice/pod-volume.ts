import type { Action, Advice } from '../rule.js'

const act = (kind: Action['kind'], why: string): Action => ({ kind, why })
const keepData =
  'Do not delete the claim or the volume, and do not force-delete the Pod: the data may be in use elsewhere.'
const noRetry = 'Do not delete the Pod over and over: the volume fails the same way each time.'
const noNode = 'Do not restart the kubelet and do not drain the node: the node does what it was told.'

export const volumeAdvice: Advice[] = [
  {
    cause: 'volume-mount',
    actions: [
      act(
        'look',
        "Read the storage driver's log on this node, and the first failed mount: it names the reason.",
      ),
      act('look', 'Check that the node reaches the storage, and whether the volume is attached to it.'),
      act(
        'ask',
        'Give both to the owner of the storage; the driver on this node may need a restart if it hangs.',
      ),
    ],
    warnings: [
      keepData,
      noRetry,
      'Do not read the list of unattached volumes as what fails: what is missing stands under unmounted volumes.',
      'Do not recreate ConfigMaps or Secrets for a single message of their cache: it passes by itself.',
    ],
    askFor: ["the storage driver's log on the node", 'the VolumeAttachment of the volume'],
    escalateTo: 'storage',
  },
  {
    cause: 'volume-mount',
    way: 'attached-elsewhere',
    actions: [
      act(
        'look',
        'See which node the VolumeAttachment names, and whether that node and a Pod with the volume still live.',
      ),
      act(
        'ask',
        'Have the storage side confirm that the disk is attached to no machine and nobody writes to it.',
      ),
      act(
        'fix',
        'Only then remove the attachment that was left behind; the attach to the right node follows by itself.',
      ),
    ],
    warnings: [
      keepData,
      noRetry,
      'Do not remove a finalizer or an attachment before it is sure that the disk is free: two writers destroy the data.',
    ],
    askFor: ['the VolumeAttachments of the volume', 'the state of the disk at the storage provider'],
    escalateTo: 'storage',
  },
  {
    cause: 'volume-mount',
    way: 'helper',
    actions: [
      act(
        'look',
        'Compare the node with one where the same volume mounts: mount helper, kernel module, storage driver.',
      ),
      act('fix', 'Install what is missing, in the image of the nodes too, so that the next node has it.'),
      act('look', 'Wait for the next try of the kubelet and see that the volume mounts.'),
    ],
    warnings: [keepData, noRetry, 'Do not change the storage server or the volume: other nodes mount it.'],
    askFor: [
      'on which nodes the volume mounts and on which not',
      'CSIDriver and CSINode objects of the node',
    ],
    escalateTo: 'platform',
  },
  {
    cause: 'secret-or-configmap-missing',
    actions: [
      act(
        'look',
        'List the Secrets and ConfigMaps in the namespace of the Pod and compare their names with what it asks for.',
      ),
      act(
        'fix',
        'Point the Pod at the object that exists, or have its chart, operator or job make the missing one.',
      ),
      act('wait', 'The kubelet tries again within two minutes; no work on the node is needed.'),
    ],
    warnings: [
      noNode,
      'Do not take the general time-out of volumes for a storage outage: it only repeats that the object is missing.',
      'Do not copy or rename an object of another namespace or release to silence the error.',
    ],
    askFor: [
      'the names of Secrets and ConfigMaps in that namespace',
      'what should make the missing object, and its log',
    ],
    escalateTo: 'application owner',
  },
  {
    cause: 'secret-or-configmap-missing',
    way: 'key',
    actions: [
      act(
        'look',
        'Compare the keys of the object (names only, no values) with the key that the Pod asks for.',
      ),
      act('fix', 'Add the key to the object where it is made, or correct the name in the Pod.'),
    ],
    warnings: [noNode, 'Do not print the values of a Secret into a chat or ticket.'],
    askFor: ['the keys of the object, without values'],
    escalateTo: 'application owner',
  },
]
