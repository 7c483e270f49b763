import { createPrivateKey, generateKeyPairSync, randomBytes, sign } from 'node:crypto'

/** Certificates made at run time: a test needs expired ones and ones for other hosts, and keys do not belong in a repository. */

const tlv = (tag: number, ...parts: readonly Buffer[]): Buffer => {
  const content = Buffer.concat(parts)
  const size = content.length
  const length = size < 128 ? [size] : size < 256 ? [0x81, size] : [0x82, size >> 8, size & 255]
  return Buffer.concat([Buffer.from([tag, ...length]), content])
}
const sequence = (...parts: readonly Buffer[]): Buffer => tlv(0x30, ...parts)
const oid = (hex: string): Buffer => tlv(0x06, Buffer.from(hex, 'hex'))
const time = (at: number): Buffer => tlv(0x17, Buffer.from(`${new Date(at).toISOString().replaceAll(/[-:T]/g, '').slice(2, 14)}Z`))

const ECDSA_SHA256 = sequence(oid('2a8648ce3d040302'))
const COMMON_NAME = '550403'
const SUBJECT_ALT_NAME = '551d11'

export interface Certificate {
  /** PEM. */
  readonly cert: string
  readonly key: string
}

/** A self-signed certificate, valid for one host name between two times (milliseconds). */
export function makeCertificate(host: string, from: number, to: number): Certificate {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const name = sequence(tlv(0x31, sequence(oid(COMMON_NAME), tlv(0x0c, Buffer.from(host)))))
  const alternative = sequence(oid(SUBJECT_ALT_NAME), tlv(0x04, sequence(tlv(0x82, Buffer.from(host)))))
  const body = sequence(
    tlv(0xa0, tlv(0x02, Buffer.from([2]))),
    tlv(0x02, Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    ECDSA_SHA256,
    name,
    sequence(time(from), time(to)),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    tlv(0xa3, sequence(alternative)),
  )
  const signature = sign('sha256', body, createPrivateKey(privateKey.export({ type: 'pkcs8', format: 'pem' })))
  const der = sequence(body, ECDSA_SHA256, tlv(0x03, Buffer.from([0]), signature))
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${der.toString('base64').replaceAll(/.{64}/g, '$&\n')}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  }
}
