import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { currentBundle } from '../../bin/bundle.js'
import { createApp, type App } from '../app.ts'
import { loadConfig } from '../config/load.ts'
import { silentLogger } from '../lib/logger.ts'
import { createStore } from '../store/index.ts'
import { spawnFrom } from '../wiring/delivery-host.ts'
import { spawnInline } from './inline-delivery.ts'

export interface TestGateway {
  readonly url: string
  readonly key: string
  readonly managementKey: string
  readonly app: App
  /** `POST /api/v1/responses`, answered as it comes. */
  respond(
    body: unknown,
    options?: { readonly headers?: { readonly [name: string]: string }; readonly signal?: AbortSignal; readonly key?: string },
  ): Promise<Response>
  /** Any other call, with the management key by default. */
  api(method: string, path: string, body?: unknown, key?: string): Promise<Response>
  /** Stops it and starts another on the same data directory. */
  restart(): Promise<TestGateway>
  close(): Promise<void>
}

export const TEST_KEY = `sk-sb-v1-${'a1'.repeat(24)}`
export const TEST_MANAGEMENT_KEY = `sk-sb-mgmt-v1-${'b2'.repeat(24)}`

/** The whole gateway in this process, on a free port, with a data directory of its own. `config` is the configuration tree. */
export async function startGateway(
  config: { readonly [key: string]: unknown } = {},
  env: { readonly [name: string]: string } = {},
): Promise<TestGateway> {
  const directory = await mkdtemp(join(tmpdir(), 'signalbox-'))
  const environment = {
    SIGNALBOX_API_KEY: TEST_KEY,
    SIGNALBOX_MANAGEMENT_KEY: TEST_MANAGEMENT_KEY,
    SIGNALBOX_PORT: '0',
    SIGNALBOX_DATA_DIR: directory,
    ...env,
  }
  const file = join(directory, 'signalbox.json')
  await writeFile(file, JSON.stringify(config))
  await writeFile(join(directory, 'signalbox.db'), await (migrated ??= migratedFile()), { mode: 0o600 })
  return launch(directory, file, environment)
}

/**
 * Every thread loads all of its modules. The bundle of the current sources loads in less than half the time, and tests start hundreds of threads. Where
 * tests look at nothing but what comes over sockets, what the thread does runs in this one (`vitest.config.ts`).
 */
const bundle = currentBundle()
const ofBundle = bundle === undefined ? undefined : spawnFrom(pathToFileURL(join(bundle, 'delivery-worker.js')))
const deliveryThread = process.env['SIGNALBOX_TEST_DELIVERY'] === 'inline' ? spawnInline : ofBundle

/** A database without rows. Ten migrations are a third of what a gateway costs to start, and are the same for every test. */
let migrated: Promise<Buffer> | undefined
async function migratedFile(): Promise<Buffer> {
  const directory = await mkdtemp(join(tmpdir(), 'signalbox-migrated-'))
  try {
    const path = join(directory, 'signalbox.db')
    const store = await createStore({ path })
    await store.migrate()
    await store.close()
    return await readFile(path)
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

async function launch(directory: string, file: string, environment: { readonly [name: string]: string }): Promise<TestGateway> {
  const config = await loadConfig({ file, env: environment, cwd: directory })
  const app = await createApp({ config, env: environment, logger: silentLogger, deliveryThread })
  const { url } = await app.listen()
  return {
    url,
    key: TEST_KEY,
    managementKey: TEST_MANAGEMENT_KEY,
    app,
    respond: (body, options = {}) =>
      fetch(`${url}/api/v1/responses`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${options.key ?? TEST_KEY}`, ...options.headers },
        body: typeof body === 'string' ? body : JSON.stringify(body),
        ...(options.signal === undefined ? {} : { signal: options.signal }),
      }),
    api: (method, path, body, key = TEST_MANAGEMENT_KEY) =>
      fetch(`${url}${path}`, {
        method,
        headers: { authorization: `Bearer ${key}`, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }),
    async restart() {
      await app.close()
      return launch(directory, file, environment)
    },
    async close() {
      await app.close()
      await rm(directory, { recursive: true, force: true })
    },
  }
}

/** A config tree with one chat provider per upstream URL, all serving `acme/small`; entries of `extra` override it. */
export function chatConfig(urls: readonly string[], extra: { readonly [key: string]: unknown } = {}): { readonly [key: string]: unknown } {
  const slugs = urls.map((_, n) => (n === 0 ? 'acme' : `backup${n}`))
  return {
    providers: urls.map((base_url, n) => ({ slug: slugs[n], name: `Acme ${n}`, dialect: 'openai-chat', base_url, api_keys: [`upstream-key-${n}`] })),
    models: [
      {
        slug: 'acme/small',
        context_length: 128_000,
        endpoints: slugs.map((provider, n) => ({
          provider,
          upstream_model: 'small-1',
          pricing: { input: 1 + n * 100, output: 2 + n * 100, cache_read: 0.1, cache_write: 1.25 },
          max_output_tokens: 8192,
        })),
      },
    ],
    ...extra,
  }
}
