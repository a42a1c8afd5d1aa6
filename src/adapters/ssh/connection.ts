import { readFile } from 'node:fs/promises'
import type { Duplex } from 'node:stream'
import ssh2 from 'ssh2'
import { Refused, Unreachable } from '../../ports.js'
import {
  type Host,
  hostKeyTypes,
  pinnedFor,
  readKnownHosts,
  whyNotPinned,
  whyNotTrusted,
} from './known-hosts.js'

export interface Login {
  host: Host
  user: string
  /** Private key, OpenSSH or PEM, without a passphrase. */
  key: string
  /** Where the key came from, for messages. */
  keyFile: string
  knownHostsFile: string
  connectTimeoutMs: number
  /** A stream through a jump host instead of a connection of our own. */
  sock?: Duplex
}

interface SshError extends Error {
  level?: string
  code?: string
}

/** Reads a file that SSH needs; throws Refused with what to set. */
export const readSecretFile = async (file: string, what: string): Promise<string> => {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? String(error)
    throw new Refused(`the ${what} ${file} cannot be read (${code}): check the path and its permissions`)
  }
}

const where = ({ name, address, port }: Host): string => `${name} (${address}:${port})`

/** ssh2's errors as ours: one line, what was tried, what to do. */
const translate = (error: SshError, login: Login, distrust: string | undefined): Refused | Unreachable => {
  const { host, user, keyFile, connectTimeoutMs } = login
  const at = where(host)
  if (distrust !== undefined) return new Refused(`${at}: ${distrust}`)
  if (error.level === 'client-authentication') {
    return new Refused(
      `${at} does not let ${user} in with the key ${keyFile}: add its public key to that user's authorized_keys`,
    )
  }
  if (/no matching host key/.test(error.message)) {
    return new Refused(
      `${at} offers no host key of a pinned type: add the key it has to ${login.knownHostsFile}`,
    )
  }
  if (error.level === 'client-timeout' || error.code === 'ETIMEDOUT') {
    return new Unreachable(
      `${at} did not answer SSH within ${connectTimeoutMs / 1000} s: is the node up, is the port open?`,
    )
  }
  if (error.code === 'ECONNREFUSED')
    return new Unreachable(`${at} refuses connections: is sshd running there?`)
  return new Unreachable(`${at} cannot be reached over SSH: ${error.message}`)
}

/** Opens a connection to a host whose key is pinned. Throws Refused or Unreachable. */
export const openConnection = async (login: Login): Promise<ssh2.Client> => {
  const { host, user, key, keyFile, knownHostsFile, connectTimeoutMs, sock } = login
  const pinned = pinnedFor(readKnownHosts(await readSecretFile(knownHostsFile, 'known_hosts file')), host)
  if (pinned.keys.length === 0) throw new Refused(whyNotPinned(pinned, host, knownHostsFile))
  const parsed = ssh2.utils.parseKey(key)
  if (parsed instanceof Error) {
    throw new Refused(
      `the private key ${keyFile} cannot be used (${parsed.message}): give one without a passphrase`,
    )
  }
  const client = new ssh2.Client()
  let distrust: string | undefined
  return new Promise((resolve, reject) => {
    // Stays attached: an error after `ready` without a listener would end the process.
    client.on('error', (error: SshError) => reject(translate(error, login, distrust)))
    client.once('close', () =>
      reject(new Unreachable(`${where(host)} closed the connection before the login was done`)),
    )
    client.once('ready', () => resolve(client))
    client.connect({
      host: host.address,
      port: host.port,
      ...(sock === undefined ? {} : { sock }),
      username: user,
      privateKey: key,
      readyTimeout: connectTimeoutMs,
      keepaliveInterval: 10_000,
      keepaliveCountMax: 3,
      algorithms: { serverHostKey: hostKeyTypes(pinned) },
      hostVerifier: (offered: Buffer) => {
        distrust = whyNotTrusted(pinned, offered, knownHostsFile)
        return distrust === undefined
      },
    })
  })
}
