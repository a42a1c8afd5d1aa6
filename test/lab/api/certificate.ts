import { generateKeyPairSync, randomBytes, sign } from 'node:crypto'

/** A TLV of DER. */
const tlv = (tag: number, ...contents: Uint8Array[]): Buffer => {
  const body = Buffer.concat(contents)
  if (body.length < 128) return Buffer.concat([Buffer.from([tag, body.length]), body])
  const length = Buffer.from(body.length.toString(16).padStart(body.length < 256 ? 2 : 4, '0'), 'hex')
  return Buffer.concat([Buffer.from([tag, 0x80 | length.length]), length, body])
}

const sequence = (...contents: Uint8Array[]): Buffer => tlv(0x30, ...contents)
const oid = (hex: string): Buffer => tlv(0x06, Buffer.from(hex, 'hex'))
const text = (value: string): Buffer => tlv(0x0c, Buffer.from(value))
const time = (value: string): Buffer => tlv(0x18, Buffer.from(value))

const ecdsaWithSha256 = sequence(oid('2a8648ce3d040302'))
const commonName = (name: string): Buffer => sequence(tlv(0x31, sequence(oid('550403'), text(name))))

/**
 * A self-signed certificate for 127.0.0.1 and localhost, made at start-up so that no key lies in the repository.
 * Valid from 2000 to 2100: the lab's clock may stand anywhere. PEM.
 */
export const selfSignedCertificate = (): { key: string; certificate: string } => {
  const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const name = commonName('cnibot lab API server')
  const alternativeNames = sequence(
    tlv(0x87, Buffer.from([127, 0, 0, 1])),
    tlv(0x82, Buffer.from('localhost')),
  )
  const extensions = sequence(
    sequence(oid('551d11'), tlv(0x04, alternativeNames)),
    sequence(
      oid('551d13'),
      tlv(0x01, Buffer.from([0xff])),
      tlv(0x04, sequence(tlv(0x01, Buffer.from([0xff])))),
    ),
  )
  const body = sequence(
    tlv(0xa0, tlv(0x02, Buffer.from([2]))),
    tlv(0x02, Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    ecdsaWithSha256,
    name,
    sequence(time('20000101000000Z'), time('21000101000000Z')),
    name,
    pair.publicKey.export({ type: 'spki', format: 'der' }),
    tlv(0xa3, extensions),
  )
  const signature = sign('sha256', body, pair.privateKey)
  const der = sequence(body, ecdsaWithSha256, tlv(0x03, Buffer.from([0]), signature))
  const lines = der.toString('base64').match(/.{1,64}/g) ?? []
  return {
    key: pair.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    certificate: `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`,
  }
}
