import { createCipheriv, createDecipheriv, createSecretKey, randomBytes, type KeyObject } from 'node:crypto'
import { deflateRawSync, inflateRawSync } from 'node:zlib'
import type { Encryption } from '../core/account.ts'
import { GatewayError } from '../core/error.ts'
import { contentKeyContext } from '../core/secret-context.ts'
import type { Clock } from '../lib/clock.ts'
import { fewRandomBytes } from '../lib/random-bytes.ts'
import { Secret } from '../lib/secret.ts'
import type { Db } from './database.ts'
import { assertCurrentKey } from './secrets.ts'
import { inTransaction } from './transaction.ts'

const ALGORITHM = 'aes-256-gcm'
const KEY_BYTES = 32
const IV_BYTES = 12
const TAG_BYTES = 16
const SEALING = { authTagLength: TAG_BYTES }
/** More than the largest request. */
const MAX_PLAIN_BYTES = 256 * 1024 * 1024
const DAY_MS = 24 * 3_600_000
const MAX_CACHED = 500

export interface ContentKey {
  readonly id: string
  /** Prepared once: a key given as bytes is prepared again for each text, which costs more than encrypting it. */
  readonly key: KeyObject
}

/**
 * Data keys for content in the outbox, one per workspace and day: random nonces stay far from their limit, a leaked key opens little, and rotating
 * the master key touches few rows.
 */
export class ContentKeys {
  readonly #db: Db
  readonly #encryption: Encryption
  readonly #clock: Clock
  readonly #cache = new Map<string, Promise<ContentKey | undefined>>()

  constructor(db: Db, encryption: Encryption, clock: Clock) {
    this.#db = db
    this.#encryption = encryption
    this.#clock = clock
  }

  /** Today's key for encryption; created at its first use, once for all processes. */
  async current(workspaceId: string): Promise<ContentKey> {
    const now = this.#clock.now()
    const id = `${workspaceId}:${new Date(now).toISOString().slice(0, 10)}`
    const found = await this.#cached(id, () => this.#make(id, workspaceId, now))
    if (found === undefined) throw new GatewayError('server', 'A data key disappeared while it was made')
    return found
  }

  /** The key that content was encrypted with; undefined if it is gone. Throws if the master key does not open it. */
  get(id: string): Promise<ContentKey | undefined> {
    return this.#cached(id, () => this.#read(id))
  }

  async #cached(id: string, load: () => Promise<ContentKey | undefined>): Promise<ContentKey | undefined> {
    const known = this.#cache.get(id)
    if (known !== undefined) return known
    if (this.#cache.size >= MAX_CACHED) this.#cache.clear()
    const loading = load()
    this.#cache.set(id, loading)
    try {
      const key = await loading
      if (key === undefined) this.#cache.delete(id)
      return key
    } catch (error) {
      this.#cache.delete(id)
      throw error
    }
  }

  async #make(id: string, workspaceId: string, now: number): Promise<ContentKey | undefined> {
    const known = await this.#read(id)
    if (known !== undefined) return known
    const sealed = this.#encryption.seal(new Secret(randomBytes(KEY_BYTES).toString('base64')), contentKeyContext(id))
    await inTransaction(this.#db, async (trx) => {
      await assertCurrentKey(trx, sealed)
      await trx
        .insertInto('outbox_keys')
        .values({ id, workspace_id: workspaceId, sealed, created_at: now })
        .onConflict((conflict) => conflict.doNothing())
        .execute()
    })
    // All processes use the key that was stored first.
    return this.#read(id)
  }

  async #read(id: string): Promise<ContentKey | undefined> {
    const row = await this.#db.selectFrom('outbox_keys').select('sealed').where('id', '=', id).executeTakeFirst()
    if (row === undefined) return undefined
    const bytes = Buffer.from(this.#encryption.open(row.sealed, contentKeyContext(id)).reveal(), 'base64')
    return { id, key: createSecretKey(bytes) }
  }
}

/** Keys older than this are no longer used for encryption. */
export const CONTENT_KEY_LIFETIME_MS = 2 * DAY_MS

/**
 * Shorter content, which is most, is not compressed: preparing the compressor costs more than compressing (30 of 40 microseconds for 2 KB), and three
 * times the bytes for a few seconds cost the disk less.
 */
const MIN_COMPRESSED_CHARS = 8_192
/** The first byte of uncompressed content. It is a type of block that no deflate stream begins with (RFC 1951, 3.2.3). */
const PLAIN = 0x07

/** Level 1, because higher levels cost more than they save. */
const pack = (text: string): string | Buffer =>
  text.length < MIN_COMPRESSED_CHARS ? `${String.fromCharCode(PLAIN)}${text}` : deflateRawSync(text, { level: 1 })

/** Text is about five times its compressed size; a much larger buffer would be allocated in vain. */
function unpack(bytes: Buffer): string {
  if (bytes[0] === PLAIN) return bytes.toString('utf8', 1)
  const chunkSize = Math.min(64 * 1024, Math.max(1_024, bytes.length * 6))
  return inflateRawSync(bytes, { maxOutputLength: MAX_PLAIN_BYTES, chunkSize }).toString()
}

/** Encrypts, and compresses long content before: nonce, ciphertext, tag. Bound to its generation, so it opens for no other. */
export function sealContent({ id, key }: ContentKey, generationId: string, text: string): Buffer {
  const iv = fewRandomBytes(IV_BYTES)
  const cipher = createCipheriv(ALGORITHM, key, iv, SEALING).setAAD(Buffer.from(`${id}\0${generationId}`))
  const plain = pack(text)
  const body = typeof plain === 'string' ? cipher.update(plain, 'utf8') : cipher.update(plain)
  // Nothing is left over: GCM has no blocks.
  cipher.final()
  return Buffer.concat([iv, body, cipher.getAuthTag()])
}

/** Undefined if it was changed or belongs to another generation. */
export function openContent({ id, key }: ContentKey, generationId: string, body: Uint8Array): string | undefined {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength)
  if (bytes.length < IV_BYTES + TAG_BYTES) return undefined
  try {
    const decipher = createDecipheriv(ALGORITHM, key, bytes.subarray(0, IV_BYTES), { authTagLength: TAG_BYTES })
      .setAAD(Buffer.from(`${id}\0${generationId}`))
      .setAuthTag(bytes.subarray(-TAG_BYTES))
    const plain = Buffer.concat([decipher.update(bytes.subarray(IV_BYTES, -TAG_BYTES)), decipher.final()])
    return unpack(plain)
  } catch {
    return undefined
  }
}
