import { openExisting, openStore } from '../wiring/boot.ts'
import { interruptedRotation } from '../accounts/interrupted-rotation.ts'
import type { BuiltCatalog } from '../catalog/build.ts'
import { howToSwitchOn } from '../catalog/switch-on.ts'
import { checkExposure, weakKeyNote } from '../config/exposure.ts'
import { withLines } from '../config/lines.ts'
import { loadConfig, type LoadOptions } from '../config/load.ts'
import { misspeltVariables, quotedVariables } from '../config/misspelt.ts'
import { describeProxies, proxiesOf } from '../config/proxies.ts'
import type { Config } from '../core/config.ts'
import type { Endpoint } from '../core/endpoint.ts'
import type { Store } from '../core/store.ts'
import type { Connection } from '../core/provider.ts'
import { checkedCatalog } from '../wiring/checked-catalog.ts'
import { createHttpClient } from '../lib/http-client.ts'
import { isPriced } from '../pipeline/call-price.ts'
import { openPlugins } from '../wiring/plugins.ts'
import { PROVIDERS } from '../providers/index.ts'
import { openTooling } from '../wiring/tooling.ts'
import { VERSION } from '../version.ts'
import { secretKeyRefusal } from './check-secret-key.ts'
import { findUnreachable } from './explain.ts'
import type { Overrides } from './overrides.ts'
import type { DoctorOptions } from './program.ts'
import { probeProvider } from './probe-provider.ts'
import { probeRedis } from './probe-redis.ts'
import { reasonOf } from './reason.ts'
import { loadOptions, storeOptions } from './serve.ts'

const line = (text: string): void => void process.stdout.write(`${text}\n`)

/** Every check `serve` makes before it listens, and again before it accepts a changed configuration. Throws ConfigError. */
export async function resolved(options: LoadOptions): Promise<{ readonly config: Config; readonly catalog: BuiltCatalog }> {
  const config = await loadConfig(options)
  return withLines(config, async () => {
    const catalog = await checkedCatalog(config, process.env)
    await resolveExtensions(config, catalog)
    return { config, catalog }
  })
}

/** Builds plugins and tools as `serve` does before it listens, so that what they refuse is reported here too. */
async function resolveExtensions(config: Config, catalog: BuiltCatalog): Promise<void> {
  const options = { config, env: process.env, catalog: () => catalog }
  await openPlugins(options).close()
  await openTooling(options).close()
}

/** `signalbox check`: the configuration is valid, this is what it serves, and every configured endpoint can be reached. Throws ConfigError with every problem. */
export async function check({ providers = false, ...overrides }: Overrides & { readonly providers?: boolean }): Promise<void> {
  const { config, catalog } = await resolved(loadOptions(overrides))
  const refusal = checkExposure(config)
  line(`configuration: ${config.file ?? 'none, defaults and environment'}`)
  if (refusal !== undefined) line(`exposure: ${refusal}`)
  const proxies = proxiesOf(process.env)
  if (proxies !== undefined) line(`proxy: ${describeProxies(proxies)}`)
  const weak = weakKeyNote(config)
  if (weak !== undefined) line(`note: ${weak}`)
  for (const note of [...misspeltVariables(process.env, config.text?.reveal()), ...quotedVariables(process.env)]) line(`note: ${note}`)
  for (const note of catalog.notes) line(`note: ${note}`)
  const known = PROVIDERS.length
  line(
    `providers: ${catalog.providers.map(({ slug }) => slug).join(', ')} (${known} are known: check --providers lists them with what switches each on)`,
  )
  if (providers) for (const text of providerLines(catalog, config)) line(`  ${text}`)
  line(`models: ${catalog.models().length}`)
  for (const model of config.models) {
    const endpoints = catalog.find(model.slug)?.endpoints ?? []
    line(`  ${model.slug}: ${endpoints.length === 0 ? 'no endpoint' : endpoints.map(endpointText).join(', ')}`)
  }
  const unreachable = findUnreachable(catalog, config)
  for (const { model, tag, reason } of unreachable) line(`unreachable: ${tag} for ${model}: ${reason}`)
  if (refusal !== undefined || unreachable.length > 0) process.exitCode = 1
}

/** Said because budgets cannot count what an endpoint without a price answers. */
const endpointText = (endpoint: Endpoint): string => `${endpoint.tag} (${endpoint.upstreamModel}${isPriced(endpoint) ? '' : ', no known price'})`

/** Providers that are known or configured: whether each is on, and what switches it on if not. */
function providerLines(catalog: BuiltCatalog, config: Config): readonly string[] {
  const on = catalog.providers.map(({ slug }) => ({ slug, state: 'on' }))
  const shown = new Set(on.map(({ slug }) => slug))
  const off = PROVIDERS.filter(({ slug }) => !shown.has(slug)).map((provider) => ({
    slug: provider.slug,
    state: `off: ${howToSwitchOn(provider, process.env, config)}`,
  }))
  return [...on, ...off].toSorted((a, b) => (a.slug < b.slug ? -1 : 1)).map(({ slug, state }) => `${slug.padEnd(22)} ${state}`)
}

const PROBE_MS = 5_000

/**
 * `signalbox doctor`: check, and then whether the database and each provider's address answer. Sends no prompt, and credentials only if
 * `keys` asks whether they are accepted.
 */
export async function doctor({ keys = false, ...overrides }: DoctorOptions & Overrides): Promise<void> {
  const { config, catalog } = await resolved(loadOptions(overrides))
  line(`signalbox ${VERSION}, node ${process.version}`)
  await check(overrides)
  await probeInstallation(config).catch((error: unknown) => {
    line(`data directory: ${(error as Error).message}`)
    process.exitCode = 1
  })
  if (config.storage.redisUrl !== undefined) await reportRedis(config.storage.redisUrl.reveal(), config.storage.redisNamespace)
  await probeProviders(config, catalog, keys)
}

/** Throws GatewayError when the data directory is missing or not writable. */
async function probeInstallation(config: Config): Promise<void> {
  const { store, directory } = await openExisting(config)
  try {
    await store.ping()
    const pending = await store.pendingMigrations()
    line(`database: ${config.storage.database} answers, ${pending.length === 0 ? 'up to date' : `migrations pending: ${pending.join(', ')}`}`)
    const newer = await store.newerSchema()
    if (newer !== undefined) line(`database: ${newer}`)
    if (pending.length === 0) await proveWrites(store, config)
    const faults = [pending.length === 0 ? undefined : await store.migrationFault(), await store.encodingFault()]
    for (const fault of faults.filter((each) => each !== undefined)) {
      line(`database: ${fault}`)
      process.exitCode = 1
    }
    const refusal = await secretKeyRefusal(store, directory, pending)
    if (refusal !== undefined) {
      const advice = await interruptedRotation(directory, store.facts)
      line(`secret key: ${refusal}${advice === undefined ? '' : `; ${advice}`}`)
      process.exitCode = 1
    }
  } catch (error) {
    line(`database: ${config.storage.database} cannot be used: ${reasonOf(error)}`)
    process.exitCode = 1
  } finally {
    await store.close()
  }
  line(`data directory: ${directory.path} (secret key from ${directory.secretKeySource})`)
}

/** A standby, a read-only role or a full disk still answers reads, so a write is tried. */
async function proveWrites(store: Store, { storage }: Config): Promise<void> {
  try {
    await store.proveWritable()
    await store.proveRoom()
  } catch (error) {
    line(`database: ${storage.database} takes no writes: ${reasonOf(error)}`)
    process.exitCode = 1
  }
}

async function probeProviders(config: Config, catalog: BuiltCatalog, keys: boolean): Promise<void> {
  const connections = new Map<string, Connection>()
  for (const model of catalog.models()) for (const { connection } of model.endpoints) connections.set(connection.provider, connection)
  const http = createHttpClient({ proxies: proxiesOf(process.env) })
  for (const connection of connections.values()) {
    for (const { fault, text } of await probeProvider(http, connection, {
      limitMs: PROBE_MS,
      keys,
      configured: isAddressConfigured(config, connection.provider),
    })) {
      line(`provider ${connection.provider}: ${text}`)
      if (fault) process.exitCode = 1
    }
  }
  await http.close()
}

function isAddressConfigured({ providers }: Config, slug: string): boolean {
  const entry = providers.find((each) => each.slug === slug)
  const variables = PROVIDERS.find((each) => each.slug === (entry?.vendor ?? slug))?.env.baseUrl ?? []
  return entry?.baseUrl !== undefined || variables.some((name) => (process.env[name] ?? '') !== '')
}

async function reportRedis(url: string, namespace: string): Promise<void> {
  const { fault, text } = await probeRedis(url, namespace, PROBE_MS)
  line(`redis: ${text}`)
  if (fault) process.exitCode = 1
}

/** `signalbox migrate`: brings the database up to date. */
export async function migrate(overrides: Overrides): Promise<void> {
  const { store } = await openStore(await loadConfig(storeOptions(overrides)))
  try {
    const applied = await store.migrate()
    line(applied.length === 0 ? 'The database is up to date.' : `Applied ${applied.join(', ')}.`)
    const newer = await store.newerSchema()
    if (newer !== undefined) line(newer)
  } finally {
    await store.close()
  }
}
