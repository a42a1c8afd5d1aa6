import { createHmac, randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import ssh2 from 'ssh2'

export interface KeyPair {
  /** OpenSSH private key file. */
  private: string
  /** `ssh-ed25519 AAAA…`, without a comment. */
  public: string
}

export const newKey = (comment: string): KeyPair => {
  const pair = ssh2.utils.generateKeyPairSync('ed25519', { comment })
  return { private: pair.private, public: pair.public.split(' ').slice(0, 2).join(' ') }
}

export const writeKey = (path: string, key: KeyPair): void => {
  writeFileSync(path, key.private, { mode: 0o600 })
  writeFileSync(`${path}.pub`, `${key.public}\n`)
}

/** A line of known_hosts whose host is hashed, as `HashKnownHosts yes` writes it. */
export const hashedHost = (host: string, publicKey: string): string => {
  const salt = randomBytes(20)
  const hash = createHmac('sha1', salt).update(host).digest('base64')
  return `|1|${salt.toString('base64')}|${hash} ${publicKey}\n`
}
