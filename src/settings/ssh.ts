import { jumpHost, nodeAddresses, oneOf, path, setting, text, whole, words } from './value.js'

const worker = ['worker'] as const
const nodes = ['worker', 'cli'] as const

/** How nodes are reached. Reading and repairing are two identities. */
export const sshSettings = {
  sshReadUser: setting('CNIBOT_SSH_READ_USER', nodes, text, 'user that asks a node its questions'),
  sshReadKeyFile: setting('CNIBOT_SSH_READ_KEY_FILE', nodes, path, 'private key of that user'),
  sshRepairUser: setting('CNIBOT_SSH_REPAIR_USER', worker, text, 'user that removes what was approved'),
  sshRepairKeyFile: setting('CNIBOT_SSH_REPAIR_KEY_FILE', worker, path, 'private key of that user'),
  sshKnownHosts: setting(
    'CNIBOT_SSH_KNOWN_HOSTS',
    nodes,
    path,
    'known_hosts file; a node whose key is not in it is not asked',
  ),
  sshMode: setting(
    'CNIBOT_SSH_MODE',
    nodes,
    oneOf(['sent', 'installed']),
    'sent: the questions go to a shell on the node; installed: both scripts lie there behind a forced command, checked by digest',
    { default: 'sent' },
  ),
  sshPort: setting('CNIBOT_SSH_PORT', nodes, whole(1, 65_535), 'port of sshd on the nodes', {
    default: '22',
  }),
  sshNodeAddresses: setting(
    'CNIBOT_SSH_NODE_ADDRESSES',
    nodes,
    nodeAddresses,
    'nodes that are reached elsewhere than at their InternalIP: node-07=10.0.0.7:2222,…',
    { default: '' },
  ),
  sshJump: setting('CNIBOT_SSH_JUMP', nodes, jumpHost.optional(), 'jump host to go through: user@host:port'),
  sshProbeCommand: setting(
    'CNIBOT_SSH_PROBE_COMMAND',
    nodes,
    words,
    'what reads the questions from standard input on a node',
    { default: '/bin/sh -s --' },
  ),
  sshRemoveCommand: setting(
    'CNIBOT_SSH_REMOVE_COMMAND',
    worker,
    words,
    'the one command that changes files on a node',
    { default: 'sudo -n /usr/local/lib/cnibot/remove-orphans' },
  ),
  sshMaxConnections: setting(
    'CNIBOT_SSH_MAX_CONNECTIONS',
    nodes,
    whole(1, 200),
    'nodes asked at the same time',
    { default: '16' },
  ),
}
