import { createCipheriv, createDecipheriv, hash, randomBytes as systemRandomBytes } from 'node:crypto'
import type { Encryption } from '../core/account.ts'
import { GatewayError } from '../core/error.ts'
import { masterKeyOf, SECRET_KEY_CANARY } from '../core/secret-context.ts'
import type { FactStore } from '../core/store.ts'
import { Secret } from '../lib/secret.ts'

const ALGORITHM = 'aes-256-gcm'
const KEY_BYTES = 32
/** 96 bits, random for every encryption. A data key encrypts only once, so only the wraps of one master key share a nonce space. */
const IV_BYTES = 12
const TAG_BYTES = 16
const VERSION = 'sbe1'

export interface EncryptionOptions {
  /** The key for sealing. 32 bytes. */
  readonly current: Buffer
  /** Earlier keys, from before rotations, for opening what they sealed. */
  readonly previous?: readonly Buffer[]
  readonly randomBytes?: (length: number) => Buffer
}

/**
 * AES-256-GCM envelopes. Each secret has its own data key, and the master key only wraps data keys. Rotating it rewrites some eighty characters per
 * secret and never touches the secret itself.
 *
 * Wire form: `sbe1.<id of the master key>.<wrapped data key>.<secret>`, the last two as base64url of nonce, ciphertext and tag.
 */
export function createEncryption({ current, previous = [], randomBytes = systemRandomBytes }: EncryptionOptions): Encryption {
  const keyId = idOf(current)
  const masters = new Map([...previous, current].map((key) => [idOf(key), key]))

  const encrypt = (key: Buffer, plain: Buffer, aad: string): string => {
    const iv = randomBytes(IV_BYTES)
    const cipher = createCipheriv(ALGORITHM, key, iv, { authTagLength: TAG_BYTES }).setAAD(Buffer.from(aad))
    return Buffer.concat([iv, cipher.update(plain), cipher.final(), cipher.getAuthTag()]).toString('base64url')
  }

  const wrap = (dataKey: Buffer, context: string): string => encrypt(current, dataKey, wrapAad(keyId, context))

  const unwrap = (envelope: Envelope, context: string): Buffer => {
    const master = masters.get(envelope.keyId)
    if (!master) {
      throw new GatewayError(
        'precondition_failed',
        `A stored secret was encrypted with the secret key ${envelope.keyId}, and this process has ${keyId}`,
      )
    }
    return decrypt(master, envelope.wrappedKey, wrapAad(envelope.keyId, context))
  }

  return {
    keyId,
    seal: (secret, context) => {
      const dataKey = randomBytes(KEY_BYTES)
      const body = encrypt(dataKey, Buffer.from(secret.reveal()), bodyAad(context))
      return `${VERSION}.${keyId}.${wrap(dataKey, context)}.${body}`
    },
    open: (text, context) => {
      const envelope = parse(text)
      return new Secret(decrypt(unwrap(envelope, context), envelope.body, bodyAad(context)).toString())
    },
    rewrap: (text, context) => {
      const envelope = parse(text)
      const dataKey = unwrap(envelope, context)
      return envelope.keyId === keyId ? text : `${VERSION}.${keyId}.${wrap(dataKey, context)}.${envelope.body}`
    },
  }
}

interface Envelope {
  readonly keyId: string
  readonly wrappedKey: string
  readonly body: string
}

function parse(text: string): Envelope {
  const [version, keyId, wrappedKey, body, ...rest] = text.split('.')
  if (version !== VERSION || !keyId || !wrappedKey || !body || rest.length > 0) throw unreadable()
  return { keyId, wrappedKey, body }
}

function decrypt(key: Buffer, text: string, aad: string): Buffer {
  const bytes = Buffer.from(text, 'base64url')
  // Decoders tolerate stray characters and spare bits. An envelope is accepted only in the exact spelling in which it was written.
  if (bytes.length < IV_BYTES + TAG_BYTES || bytes.toString('base64url') !== text) throw unreadable()
  try {
    const decipher = createDecipheriv(ALGORITHM, key, bytes.subarray(0, IV_BYTES), { authTagLength: TAG_BYTES })
      .setAAD(Buffer.from(aad))
      .setAuthTag(bytes.subarray(-TAG_BYTES))
    return Buffer.concat([decipher.update(bytes.subarray(IV_BYTES, -TAG_BYTES)), decipher.final()])
  } catch {
    throw unreadable()
  }
}

const unreadable = () => new GatewayError('server', 'A stored secret cannot be decrypted: it was changed, or belongs to another record')
const wrapAad = (keyId: string, context: string) => `signalbox data key\0${keyId}\0${context}`
const bodyAad = (context: string) => `signalbox secret\0${context}`
/** Identifies a key without revealing anything about it. */
const idOf = (key: Buffer) => hash('sha256', Buffer.concat([Buffer.from('signalbox master key id\0'), key]), 'hex').slice(0, 12)

/** The bytes of a master key given as base64. `where` names its source in the error, which never quotes it. Throws GatewayError `invalid_request`. */
export function parseSecretKey(value: Secret, where: string): Buffer {
  const text = value.reveal().trim()
  const key = Buffer.from(text, 'base64')
  if (!/^[A-Za-z0-9+/_-]+={0,2}$/.test(text) || key.length !== KEY_BYTES) {
    throw new GatewayError('invalid_request', `${where} must be 32 bytes in base64; make one with: openssl rand -base64 32`, { path: where })
  }
  return key
}

export function generateSecretKey(randomBytes: (length: number) => Buffer = systemRandomBytes): Secret {
  return new Secret(randomBytes(KEY_BYTES).toString('base64'))
}

const CANARY = SECRET_KEY_CANARY

/**
 * Proves that the master key is the one that sealed this database's secrets, before anything is sealed with another. The first start leaves a canary;
 * after a rotation it moves to the new key. Throws GatewayError `precondition_failed`, one sentence for the operator.
 */
export async function verifySecretKey(encryption: Encryption, facts: FactStore): Promise<void> {
  for (;;) {
    const stored = await facts.get(CANARY)
    if (stored === undefined) {
      if (await facts.replace(CANARY, undefined, encryption.seal(new Secret(CANARY), CANARY))) return
      // Another process was first; its canary is checked like any other.
      continue
    }
    const rewrapped = openCanary(encryption, stored)
    if (rewrapped === stored || (await facts.replace(CANARY, stored, rewrapped))) return
  }
}

/** Whether the store's secrets have another master key than this process, because `secrets rotate` ran meanwhile. */
export async function isOutdated({ keyId }: Encryption, facts: Pick<FactStore, 'get'>): Promise<boolean> {
  const stored = await facts.get(CANARY)
  return stored !== undefined && masterKeyOf(stored) !== keyId
}

function openCanary(encryption: Encryption, stored: string): string {
  try {
    if (encryption.open(stored, CANARY).reveal() === CANARY) return encryption.rewrap(stored, CANARY)
  } catch {
    // The reason does not matter for what the operator has to do.
  }
  throw new GatewayError(
    'precondition_failed',
    `The secret key (${encryption.keyId}) is not the one the secrets in this database are encrypted with (${masterKeyOf(stored) ?? 'unknown'}): ` +
      'set SIGNALBOX_SECRET_KEY, or secret.key in the data directory, to that key',
  )
}
