import { createHmac, generateKeyPairSync, randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'

export interface KeyPair {
  /** OpenSSH private key file. */
  private: string
  /** `ssh-ed25519 AAAA…`, without a comment. */
  public: string
}

const field = (content: Buffer | string): Buffer => {
  const bytes = Buffer.from(content)
  const length = Buffer.alloc(4)
  length.writeUInt32BE(bytes.length)
  return Buffer.concat([length, bytes])
}

/**
 * An Ed25519 key in OpenSSH's form (PROTOCOL.key). Not ssh2's own generator: that one drops a leading zero byte, so
 * about one of its keys in 256 is refused by sshd as "error in libcrypto".
 */
export const newKey = (comment: string): KeyPair => {
  const { d = '', x = '' } = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' })
  const [seed, point] = [Buffer.from(d, 'base64url'), Buffer.from(x, 'base64url')]
  const type = 'ssh-ed25519'
  const publicBlob = Buffer.concat([field(type), field(point)])
  const check = randomBytes(4)
  const secret = Buffer.concat([
    check,
    check,
    publicBlob,
    field(Buffer.concat([seed, point])),
    field(comment),
  ])
  const padding = Buffer.from([1, 2, 3, 4, 5, 6, 7].slice(0, (8 - (secret.length % 8)) % 8))
  const file = Buffer.concat([
    Buffer.from('openssh-key-v1\0'),
    field('none'),
    field('none'),
    field(''),
    Buffer.from([0, 0, 0, 1]),
    field(publicBlob),
    field(Buffer.concat([secret, padding])),
  ])
  const lines = file.toString('base64').match(/.{1,70}/g) ?? []
  return {
    private: ['-----BEGIN OPENSSH PRIVATE KEY-----', ...lines, '-----END OPENSSH PRIVATE KEY-----', ''].join(
      '\n',
    ),
    public: `${type} ${publicBlob.toString('base64')}`,
  }
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
