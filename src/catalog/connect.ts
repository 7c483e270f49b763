import type { EndpointPolicies } from '../core/capability.ts'
import type { ProviderConfig } from '../core/config.ts'
import type { Dialect } from '../core/dialect.ts'
import { DEFAULT_TIMEOUTS, type Connection, type Provider, type ProviderSettings } from '../core/provider.ts'
import { Secret } from '../lib/secret.ts'

export type Env = { readonly [name: string]: string | undefined }
type Json = { readonly [key: string]: unknown }

/** A provider that is switched on. */
export interface ConnectedProvider {
  readonly slug: string
  readonly name: string
  /** The built-in declaration; undefined for a provider that only the configuration knows. */
  readonly provider: Provider | undefined
  readonly policies: EndpointPolicies
  /** Whether ids outside the catalog are served; undefined: decided by what the configuration lists. */
  readonly open: boolean | undefined
  /** The connection for a model, with options over those of the provider. Reports invalid options. */
  readonly connectionFor: (upstreamModel: string, options: Json, report: Report) => Connection | undefined
}

/** Takes one thing that is wrong, by its path inside the entry (`base_url`, `options.x`). */
export type Report = (path: string, message: string) => void

export interface ConnectInput {
  readonly provider: Provider | undefined
  readonly config: ProviderConfig | undefined
  readonly dialects: ReadonlyMap<string, Dialect>
  readonly env: Env
}

/** Unknown policies are the cautious ones: the vendor keeps prompts and forbids training on its output. */
const CAUTIOUS: EndpointPolicies = { dataCollection: 'allow', zdr: false, distillable: false }

/**
 * Brings declaration, configuration and environment of one provider together. Undefined when something essential is missing,
 * which `report` has then been told.
 */
export function connectProvider(input: ConnectInput, report: Report): ConnectedProvider | undefined {
  const { provider, config, dialects, env } = input
  const slug = config?.slug ?? provider?.slug ?? ''
  const name = config?.name ?? provider?.name ?? slug
  const mainDialect = config?.dialect ?? provider?.dialect
  if (mainDialect === undefined) {
    report('dialect', `missing; expected one of: ${[...dialects.keys()].join(', ')} (only built-in providers need none)`)
    return undefined
  }
  if (!dialects.has(mainDialect)) {
    report('dialect', `${JSON.stringify(mainDialect)} is not available in this version; expected one of: ${[...dialects.keys()].join(', ')}`)
    return undefined
  }
  const apiKeys = resolveKeys(input, report)
  const settings = resolveSettings(input, apiKeys ?? [], report)
  if (apiKeys === undefined || settings === undefined) return undefined
  const connected = settings.connectable ? (provider?.connect?.(settings.settings) ?? {}) : {}
  const baseUrl = config?.baseUrl ?? envBaseUrl(provider, env) ?? connected.baseUrl ?? provider?.baseUrl
  if (baseUrl === undefined) {
    report('base_url', 'missing; expected an http or https URL up to and including the version, such as https://api.example.com/v1')
    return undefined
  }
  const headers = { ...provider?.headers, ...connected.headers, ...config?.headers }
  const base = {
    provider: slug,
    providerName: name,
    baseUrl,
    credentials: apiKeys.map((secret, index) => ({ id: `${slug}#${index}`, secret })),
    scope: connected.scope ?? [slug, URL.parse(baseUrl)?.origin, config?.organization].filter(Boolean).join('@'),
    timeouts: { ...DEFAULT_TIMEOUTS, ...config?.timeouts },
    ...(Object.keys(headers).length === 0 ? {} : { headers }),
    ...(connected.sign === undefined ? {} : { sign: connected.sign }),
    ...(connected.transport === undefined ? {} : { transport: connected.transport }),
  }
  const cache = new Map<string, Connection>()

  function connectionFor(upstreamModel: string, options: Json, tell: Report): Connection | undefined {
    const wanted = config?.dialect === undefined ? provider?.dialectFor?.(upstreamModel) : undefined
    const dialect = dialects.get(wanted ?? '') ?? dialects.get(mainDialect ?? '')
    if (dialect === undefined) return undefined
    const key = `${dialect.name} ${JSON.stringify(options)}`
    const known = cache.get(key)
    if (known !== undefined) return known
    const declared = dialect.name === provider?.dialect ? provider.options : provider?.dialectOptions?.[dialect.name]
    const configured = dialect.name === mainDialect ? config?.options : {}
    const parsed = dialect.options.safeParse({ ...declared, ...configured, ...options })
    if (!parsed.success) {
      for (const issue of parsed.error.issues) {
        const keys = issue.code === 'unrecognized_keys' ? issue.keys : [issue.path.join('.')]
        for (const option of keys)
          tell(`options.${option}`, issue.code === 'unrecognized_keys' ? `unknown option of the dialect ${dialect.name}` : issue.message)
      }
      return undefined
    }
    const connection: Connection = { ...base, dialect, options: parsed.data }
    cache.set(key, connection)
    return connection
  }

  // Wrong options are found at the start, although no model may use them.
  if (connectionFor('', {}, report) === undefined) return undefined
  return {
    slug,
    name,
    provider,
    policies: { ...CAUTIOUS, ...provider?.policies, ...config?.policies },
    open: config?.open ?? (provider === undefined ? undefined : (provider.models?.open ?? true)),
    connectionFor,
  }
}

/** Whether the environment alone switches a built-in provider on. */
export function isOnByEnv(provider: Provider, env: Env): boolean {
  if (provider.connect !== undefined && provider.keyless === true && Object.keys(provider.env).length === 0) return true
  return firstSet(provider.keyless === true ? provider.env.baseUrl : provider.env.apiKey, env) !== undefined
}

function resolveKeys({ provider, config, env }: ConnectInput, report: Report): readonly Secret[] | undefined {
  if (config?.apiKeys !== undefined) return config.apiKeys
  const variables = provider?.env.apiKey ?? []
  const found = firstSet(variables, env)
  if (found !== undefined) return [new Secret(found)]
  if (provider === undefined || provider.keyless === true) return []
  const hint = variables.length === 0 ? 'a list of keys' : `${variables[0]} in the environment, or a list of keys`
  report('api_keys', `missing; expected ${hint} (null when the server needs none)`)
  return undefined
}

interface ResolvedSettings {
  readonly settings: ProviderSettings
  /** False when the vendor's own settings are absent and an explicit base URL makes up for them. */
  readonly connectable: boolean
}

function resolveSettings({ provider, config, env }: ConnectInput, apiKeys: readonly Secret[], report: Report): ResolvedSettings | undefined {
  const fromEnv = Object.entries(provider?.env.settings ?? {}).map(([setting, variables]) => [setting, firstSet(variables, env)] as const)
  const extra = { ...Object.fromEntries(fromEnv.filter(([, value]) => value !== undefined)), ...config?.settings }
  const settings: ProviderSettings = {
    ...(config?.baseUrl === undefined ? {} : { baseUrl: config.baseUrl }),
    apiKeys,
    options: config?.options ?? {},
    ...(config?.organization === undefined ? {} : { organization: config.organization }),
    extra,
  }
  const schema = provider?.settings
  if (schema === undefined) {
    const unknown = Object.keys(config?.settings ?? {}).filter((key) => key !== 'region')
    for (const key of unknown) report(`settings.${key}`, 'unknown setting: this provider has none of its own')
    return unknown.length === 0 ? { settings, connectable: true } : undefined
  }
  const parsed = schema.safeParse(extra)
  if (parsed.success) return { settings, connectable: true }
  if (config?.baseUrl !== undefined && Object.keys(extra).length === 0) return { settings, connectable: false }
  for (const issue of parsed.error.issues) {
    const name = issue.code === 'unrecognized_keys' ? issue.keys.join(', ') : issue.path.join('.')
    const variable = provider?.env.settings?.[name]?.[0]
    const what = issue.code === 'unrecognized_keys' ? 'unknown setting of this provider' : extra[name] === undefined ? 'missing' : 'of the wrong form'
    report(`settings.${name}`, variable === undefined ? what : `${what}; expected ${name} here or ${variable} in the environment`)
  }
  return undefined
}

/** `localhost:11434` and `http://host` are completed: scheme and the path of the vendor's own base URL. */
function envBaseUrl(provider: Provider | undefined, env: Env): string | undefined {
  const value = firstSet(provider?.env.baseUrl, env)
  if (value === undefined) return undefined
  // Servers are told to listen on 0.0.0.0 by the same variable; nobody can connect to that.
  const url = URL.parse(/^https?:\/\//.test(value) ? value : `http://${value}`)
  if (url === null) return undefined
  if (url.hostname === '0.0.0.0') url.hostname = '127.0.0.1'
  const path = url.pathname.replace(/\/+$/, '')
  return `${url.origin}${path === '' ? (provider?.basePath ?? URL.parse(provider?.baseUrl ?? '')?.pathname ?? '') : path}`
}

function firstSet(variables: readonly string[] | undefined, env: Env): string | undefined {
  for (const name of variables ?? []) {
    const value = env[name]?.trim()
    if (value !== undefined && value !== '') return value
  }
  return undefined
}
