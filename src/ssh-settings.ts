import type { SshSettings } from './adapters/ssh/node-shell.js'
import type { Settings } from './config.js'

type Reading = Pick<
  Settings<'cli' | 'worker'>,
  | 'sshMode'
  | 'sshReadUser'
  | 'sshReadKeyFile'
  | 'sshKnownHosts'
  | 'sshPort'
  | 'sshNodeAddresses'
  | 'sshProbeCommand'
  | 'sshMaxConnections'
  | 'sshJump'
>
type Repairing = Pick<Settings<'worker'>, 'sshRepairUser' | 'sshRepairKeyFile' | 'sshRemoveCommand'>

/** The settings of a role that reaches nodes → what the SSH adapter takes. */
export const sshSettingsOf = (settings: Reading & Partial<Repairing>): SshSettings => ({
  mode: settings.sshMode,
  readUser: settings.sshReadUser,
  readKeyFile: settings.sshReadKeyFile,
  knownHostsFile: settings.sshKnownHosts,
  port: settings.sshPort,
  nodeAddresses: settings.sshNodeAddresses,
  probeCommand: settings.sshProbeCommand,
  maxConnections: settings.sshMaxConnections,
  ...(settings.sshJump ? { jump: settings.sshJump } : {}),
  ...(settings.sshRepairUser ? { repairUser: settings.sshRepairUser } : {}),
  ...(settings.sshRepairKeyFile ? { repairKeyFile: settings.sshRepairKeyFile } : {}),
  ...(settings.sshRemoveCommand ? { removeCommand: settings.sshRemoveCommand } : {}),
})

/**
 * What a node's answer may take, in a thread and at a terminal: a store of 65,000 files takes 10 MB. Read by the worker it
 * takes a multiple of that in memory.
 */
export const probeLimits = { probeTimeoutMs: 60_000, probeMaxBytes: 16 * 1024 * 1024 }
