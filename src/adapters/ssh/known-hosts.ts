import { createHash, createHmac } from 'node:crypto'

/** One line of a known_hosts file (sshd(8), SSH_KNOWN_HOSTS FILE FORMAT). */
export interface KnownHost {
  line: number
  marker: 'revoked' | 'cert-authority' | undefined
  /** Patterns of names, or one hashed name. */
  hosts: string
  type: string
  key: Buffer
}

export const readKnownHosts = (text: string): KnownHost[] =>
  text.split('\n').flatMap((raw, index) => {
    const words = raw.trim().split(/\s+/)
    const marked = words[0]?.startsWith('@') === true
    const [hosts, type, base64] = marked ? words.slice(1) : words
    if (
      hosts === undefined ||
      hosts === '' ||
      hosts.startsWith('#') ||
      type === undefined ||
      base64 === undefined
    )
      return []
    const marker = words[0] === '@revoked' ? 'revoked' : 'cert-authority'
    const key = Buffer.from(base64, 'base64')
    // The key repeats its type inside; a line that contradicts itself pins nothing.
    if (key.length < 8 || key.subarray(4, 4 + key.readUInt32BE(0)).toString('latin1') !== type) return []
    return [{ line: index + 1, marker: marked ? marker : undefined, hosts, type, key }]
  })

const hashedMatch = (hosts: string, name: string): boolean => {
  const [, salt, hash] = /^\|1\|([^|]+)\|([^|]+)$/.exec(hosts) ?? []
  if (salt === undefined || hash === undefined) return false
  const made = createHmac('sha1', Buffer.from(salt, 'base64')).update(name).digest()
  return made.equals(Buffer.from(hash, 'base64'))
}

const wildcard = (pattern: string, name: string): boolean => {
  const source = pattern
    .replace(/[.+^${}()|[\]\\]/g, '\\$&')
    .replaceAll('*', '.*')
    .replaceAll('?', '.')
  return new RegExp(`^${source}$`, 'i').test(name)
}

/** Whether a line is about `name`: a plain name or address, or `[name]:port` where the port is not 22. */
const isAbout = ({ hosts }: KnownHost, name: string): boolean => {
  if (hosts.startsWith('|')) return hashedMatch(hosts, name)
  const patterns = hosts.split(',')
  if (patterns.some(pattern => pattern.startsWith('!') && wildcard(pattern.slice(1), name))) return false
  return patterns.some(pattern => !pattern.startsWith('!') && wildcard(pattern, name))
}

export interface Pinned {
  /** The name the keys are pinned for, as known_hosts spells it. */
  name: string
  keys: KnownHost[]
  revoked: KnownHost[]
  /** Lines that name a certificate authority: nothing here can verify a host certificate. */
  authorities: KnownHost[]
}

export interface Host {
  /** The node's name in the cluster. */
  name: string
  /** The address that is dialled. */
  address: string
  port: number
}

const spelled = (host: string, port: number): string => (port === 22 ? host : `[${host}]:${port}`)

/**
 * What is pinned for a node. Its name decides where there is a line for it, else the dialled address: an address can
 * pass to another machine, and that one's key must then not open this node's name. Revoked keys count under either.
 */
export const pinnedFor = (entries: readonly KnownHost[], { name, address, port }: Host): Pinned => {
  const names = [...new Set([spelled(name, port), name, spelled(address, port), address])]
  const about = (spelling: string) => entries.filter(entry => isAbout(entry, spelling))
  const all = names.flatMap(about)
  const first = names.find(spelling => about(spelling).some(({ marker }) => marker === undefined))
  return {
    name: first ?? spelled(address, port),
    keys: first === undefined ? [] : about(first).filter(({ marker }) => marker === undefined),
    revoked: all.filter(({ marker }) => marker === 'revoked'),
    authorities: all.filter(({ marker }) => marker === 'cert-authority'),
  }
}

/** As `ssh-keygen -l` prints it. */
export const fingerprint = (key: Buffer): string =>
  `SHA256:${createHash('sha256').update(key).digest('base64').replace(/=+$/, '')}`

/** Why this key must not be trusted; undefined where it is the pinned one. */
export const whyNotTrusted = (pinned: Pinned, key: Buffer, file: string): string | undefined => {
  const revoked = pinned.revoked.find(entry => entry.key.equals(key))
  if (revoked !== undefined)
    return `its host key ${fingerprint(key)} is revoked (${file}, line ${revoked.line}): whoever holds it can pose as this node; give the node a new host key and pin that one`
  if (pinned.keys.some(entry => entry.key.equals(key))) return undefined
  const lines = pinned.keys.map(entry => `${fingerprint(entry.key)} in line ${entry.line}`).join(', ')
  return `its host key ${fingerprint(key)} is not the pinned one (${lines} of ${file}); if the node was set up anew, check the key on the node and replace the line`
}

/** Why there is nothing to compare with, and how to change that. */
export const whyNotPinned = (
  { authorities }: Pinned,
  { name, address, port }: Host,
  file: string,
): string => {
  const scan = port === 22 ? `ssh-keyscan ${address}` : `ssh-keyscan -p ${port} ${address}`
  const authority = authorities[0]
  const certificate =
    authority === undefined
      ? ''
      : ` (line ${authority.line} names a certificate authority, which cannot be used here)`
  return `no host key of ${name} (${spelled(address, port)}) is in ${file}${certificate}; compare what \`${scan}\` prints with the node's own /etc/ssh/ssh_host_*_key.pub and add the line`
}

type HostKeyType =
  | 'ssh-ed25519'
  | 'ecdsa-sha2-nistp256'
  | 'ecdsa-sha2-nistp384'
  | 'ecdsa-sha2-nistp521'
  | 'rsa-sha2-512'
  | 'rsa-sha2-256'
const usable: Record<string, HostKeyType[]> = {
  'ssh-ed25519': ['ssh-ed25519'],
  'ecdsa-sha2-nistp256': ['ecdsa-sha2-nistp256'],
  'ecdsa-sha2-nistp384': ['ecdsa-sha2-nistp384'],
  'ecdsa-sha2-nistp521': ['ecdsa-sha2-nistp521'],
  'ssh-rsa': ['rsa-sha2-512', 'rsa-sha2-256'],
}

/** Only what is pinned may be offered: a server that has several keys would else show one that is not known. */
export const hostKeyTypes = ({ keys }: Pinned): HostKeyType[] => [
  ...new Set(keys.flatMap(({ type }) => usable[type] ?? [])),
]
