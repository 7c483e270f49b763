import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { GatewayError } from '../core/error.ts'
import type { Store } from '../core/store.ts'
import { Secret } from '../lib/secret.ts'
import { createStore } from '../store/index.ts'
import { sampleDestination } from '../testing/sample-records.ts'
import { createEncryption, verifySecretKey } from './encryption.ts'
import { rotateSecrets, withKeyInForce } from './rotate-secrets.ts'

const OLD = Buffer.alloc(32, 1)
const NEW = Buffer.alloc(32, 2)
const CONTEXT = 'destination:d1:webhook'

describe('rotating the secret key', () => {
  let store: Store
  beforeEach(async () => {
    store = await createStore({ path: ':memory:' })
    await store.migrate()
    await store.workspaces.default()
    const encryption = createEncryption({ current: OLD })
    await verifySecretKey(encryption, store.facts)
    await store.destinations.insert(sampleDestination('d1', { sealed: encryption.seal(new Secret('{"apiKey":"x"}'), CONTEXT) }), 5)
  })
  afterEach(() => store.close())
  const open = async (key: Buffer) =>
    createEncryption({ current: key })
      .open((await store.destinations.get('d1'))!.sealed!, CONTEXT)
      .reveal()

  it('moves every secret and the canary to the new key, and only there', async () => {
    const version = await store.version()
    expect(await rotateSecrets(store, OLD, NEW)).toMatchObject({ secrets: 2 })
    expect(await open(NEW)).toBe('{"apiKey":"x"}')
    await expect(open(OLD)).rejects.toMatchObject({ errorType: 'precondition_failed' })
    await verifySecretKey(createEncryption({ current: NEW }), store.facts)
    await expect(verifySecretKey(createEncryption({ current: OLD }), store.facts)).rejects.toMatchObject({ errorType: 'precondition_failed' })
    // Processes that follow the version read the new envelopes.
    expect(await store.version()).toBe(version + 1)
  })

  it('a failed one says which key is in force, or to keep both if the database does not say', async () => {
    const failure = new GatewayError('provider_overloaded', 'The database went away', { cause: new Error('57P01') })
    expect(await withKeyInForce(failure, store.facts, NEW)).toMatchObject({
      errorType: 'provider_overloaded',
      message: 'The database went away. The new key is not in force',
      cause: failure.cause,
    })
    await rotateSecrets(store, OLD, NEW)
    expect(await withKeyInForce(failure, store.facts, NEW)).toMatchObject({ message: 'The database went away. The new key is in force' })
    const away = { ...store.facts, get: () => Promise.reject(failure) }
    expect(await withKeyInForce(failure, away, NEW)).toMatchObject({ message: expect.stringContaining('keep both') })
  })

  it('changes nothing when the key given is not the one in use, or one secret does not open', async () => {
    await expect(rotateSecrets(store, Buffer.alloc(32, 9), NEW)).rejects.toMatchObject({ errorType: 'precondition_failed' })
    await expect(rotateSecrets(store, OLD, OLD)).rejects.toMatchObject({ errorType: 'invalid_request' })
    await store.destinations.insert(sampleDestination('d2', { sealed: createEncryption({ current: OLD }).seal(new Secret('{}'), 'moved') }), 5)
    await expect(rotateSecrets(store, OLD, NEW)).rejects.toMatchObject({ errorType: 'server' })
    expect(await open(OLD)).toBe('{"apiKey":"x"}')
    await verifySecretKey(createEncryption({ current: OLD }), store.facts)
  })

  it('refuses writes of secrets with the old key afterwards', async () => {
    await rotateSecrets(store, OLD, NEW)
    const sealed = createEncryption({ current: OLD }).seal(new Secret('{}'), CONTEXT)
    await expect(store.destinations.update('d1', sampleDestination('d1').workspaceId, { sealed }, 1)).rejects.toMatchObject({
      errorType: 'precondition_failed',
    })
  })
})
