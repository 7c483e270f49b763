import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe } from 'vitest'
import type { Store } from '../core/store.ts'
import type { Secret } from '../lib/secret.ts'
import { findTestPostgres } from './postgres.ts'
import { reuseSchemas } from './reused-schema.ts'

/** A store for one test, and further connections to the same database. */
export interface OpenedStore {
  readonly store: Store
  readonly at: { readonly path: string } | { readonly url: Secret }
  readonly openAnother: () => Promise<Store>
  readonly dispose: () => Promise<void>
}

type CreateStore = (options: { readonly path: string } | { readonly url: Secret; readonly maxConnections?: number }) => Promise<Store>
type Contract = (name: string, open: () => Promise<OpenedStore>) => void

/** Opens a store in a file of its own. */
export async function openInFile(create: (path: string) => Promise<Store>): Promise<OpenedStore> {
  const folder = await mkdtemp(join(tmpdir(), 'signalbox-store-'))
  const path = join(folder, 'signalbox.db')
  const store = await create(path)
  return {
    store,
    at: { path },
    openAnother: () => create(path),
    dispose: async () => {
      await store.close()
      await rm(folder, { recursive: true })
    },
  }
}

/** Runs a contract over PostgreSQL, each test in a schema as after a first migration. Without a server it is skipped with a visible message. */
export async function describeOnPostgres(what: string, createStore: CreateStore, contract: Contract): Promise<void> {
  const postgres = await findTestPostgres(`${what} over PostgreSQL`)
  describe.skipIf(!postgres.available)('postgres', () => {
    if (!postgres.available) return
    const schemas = reuseSchemas(postgres, createStore)
    contract('postgres', async () => {
      const schema = await schemas()
      const store = await createStore({ url: schema.url, maxConnections: 4 })
      return {
        store,
        at: { url: schema.url },
        openAnother: () => createStore({ url: schema.url }),
        dispose: async () => {
          await store.close()
          await schema.drop()
        },
      }
    })
  })
}

/** Runs a contract over a SQLite file and over PostgreSQL. */
export async function describeOnBothEngines(what: string, createStore: CreateStore, contract: Contract): Promise<void> {
  contract('sqlite', () => openInFile((path) => createStore({ path })))
  await describeOnPostgres(what, createStore, contract)
}
