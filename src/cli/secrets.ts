import { findStagedKey, stageSecretKey } from '../accounts/data-directory.ts'
import { createEncryption, generateSecretKey, parseSecretKey, verifySecretKey } from '../accounts/encryption.ts'
import { isKeyInUse, rotateSecrets, withKeyInForce } from '../accounts/rotate-secrets.ts'
import { migrateExisting, openExisting } from '../wiring/boot.ts'
import { loadConfig } from '../config/load.ts'
import { GatewayError } from '../core/error.ts'
import { SECRET_KEY_CANARY } from '../core/secret-context.ts'
import type { Store } from '../core/store.ts'
import { Secret } from '../lib/secret.ts'
import type { Overrides } from './overrides.ts'
import { storeOptions } from './serve.ts'

const NEW_KEY = 'SIGNALBOX_NEW_SECRET_KEY'

const print = (sentence: string): void => void process.stdout.write(`${sentence}\n`)

/** Resolves once it is written, so that nothing irreversible is done for a reader who never gets it. Throws GatewayError `precondition_failed`. */
const show = (sentence: string): Promise<void> =>
  new Promise((resolve, reject) =>
    process.stdout.write(`${sentence}\n`, (cause) => {
      if (cause == null) return resolve()
      reject(new GatewayError('precondition_failed', 'The new key cannot be shown, so nothing was changed', { cause }))
    }),
  )

/**
 * `signalbox secrets rotate`: every stored secret under a new key, all or none. A key in the data directory is replaced there; one from the
 * environment is the operator's to replace. Throws GatewayError with a sentence for the operator.
 */
export async function rotate(overrides: Overrides): Promise<void> {
  // The old key is gone once the file is replaced, so what was sealed with the new one must be on disk first.
  const { store, directory } = await openExisting(await loadConfig(storeOptions(overrides)), { synchronous: 'full' })
  try {
    await migrateExisting(store)
    await requireSecrets(store)
    const value = process.env[NEW_KEY]
    const wanted = value === undefined || value === '' ? undefined : new Secret(value)
    if (wanted !== undefined) parseSecretKey(wanted, NEW_KEY)
    if (directory.secretKeySource === 'environment') await rotateInEnvironment(store, directory.secretKey, wanted)
    else await rotateInFile(store, directory.path, directory.secretKey, wanted)
  } finally {
    await store.close()
  }
}

/**
 * Throws GatewayError `precondition_failed` for a database that no gateway has started with: nothing in it needs the key, but another database may,
 * such as the SQLite file that is to be moved to this one.
 */
async function requireSecrets({ facts }: Store): Promise<void> {
  if ((await facts.get(SECRET_KEY_CANARY)) !== undefined) return
  throw new GatewayError('precondition_failed', 'No gateway has started with this database yet, so there is nothing to encrypt; nothing was changed')
}

async function rotateInEnvironment(store: Store, current: Buffer, wanted: Secret | undefined): Promise<void> {
  // With a wrong current key nothing will be changed; checking first keeps the operator from storing a new key that never came into force.
  await verifySecretKey(createEncryption({ current }), store.facts)
  const next = wanted ?? generateSecretKey()
  // Shown before the database changes: a key that nobody has seen would lock the secrets up for good.
  if (wanted === undefined) await show(`The new key, shown this once:\n${next.reveal()}`)
  const key = parseSecretKey(next, NEW_KEY)
  const { from, to, secrets } = await rotateSecrets(store, current, key).catch(async (error: unknown) => {
    throw await withKeyInForce(error, store.facts, key)
  })
  print(`${secrets} secrets are encrypted with the key ${to} now, instead of ${from}.`)
  print('Set SIGNALBOX_SECRET_KEY to the new key everywhere, then start the gateways. With the old key they refuse to start.')
}

async function rotateInFile(store: Store, directory: string, current: Buffer, wanted: Secret | undefined): Promise<void> {
  const left = await findStagedKey(directory)
  if (left !== undefined) {
    if (await isKeyInUse(store.facts, left.key)) {
      await left.adopt()
      return print(
        'An earlier rotation was interrupted; it is finished now, and secret.key is the key in use. Run the command again for another key.',
      )
    }
    // A database that has neither key is another one: the key that was left may be the only copy of what this directory's own database has.
    await verifySecretKey(createEncryption({ current }), store.facts)
    await left.discard()
  }
  const staged = await stageSecretKey(directory, wanted ?? generateSecretKey())
  try {
    const { from, to, secrets } = await rotateSecrets(store, current, staged.key)
    await staged.adopt()
    print(`${secrets} secrets are encrypted with the key ${to} now, instead of ${from}. The new key is in ${directory}/secret.key.`)
    print('Start the gateways again. Any that still runs stores no secrets until it is restarted.')
  } catch (error) {
    // Only an outright refusal proves that the database did not take the new key. Otherwise both keys are kept, and the next rotation finds out.
    if (error instanceof GatewayError && error.errorType !== 'provider_overloaded') await staged.discard()
    throw error
  }
}
