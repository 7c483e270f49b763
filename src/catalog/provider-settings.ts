import type { ProviderConfig } from '../core/config.ts'
import type { Provider, ProviderSettings } from '../core/provider.ts'
import { isCredentialText } from '../lib/credential-text.ts'
import { defined } from '../lib/defined.ts'
import { Secret } from '../lib/secret.ts'

export type Env = { readonly [name: string]: string | undefined }

/** Receives one problem, with its path inside the entry (`base_url`, `options.x`). */
export type Report = (path: string, message: string) => void

/** The sources for one provider: its declaration, its entry in the configuration, and the environment. At least one of the first two is present. */
export interface ProviderSources {
  readonly provider: Provider | undefined
  readonly config: ProviderConfig | undefined
  readonly env: Env
}

/** Whether the environment alone switches on a built-in provider. */
export function isOnByEnv(provider: Provider, env: Env): boolean {
  if (provider.connect !== undefined && provider.keyless === true && Object.keys(provider.env).length === 0) return true
  return firstSet(provider.keyless === true ? provider.env.baseUrl : provider.env.apiKey, env) !== undefined
}

/** The credentials; undefined if some are required and none is given. */
export function resolveKeys({ provider, config, env }: ProviderSources, report: Report): readonly Secret[] | undefined {
  if (config?.apiKeys !== undefined) return sendable(config.apiKeys, 'api_keys', report)
  if (provider?.credentialSetting !== undefined && config?.settings[provider.credentialSetting] !== undefined) return []
  const variables = provider?.env.apiKey ?? []
  const found = firstSet(variables, env)
  if (found !== undefined) return sendable([new Secret(found)], variables.find((name) => isSet([name], env)) ?? 'api_keys', report)
  if (provider === undefined || provider.keyless === true) return []
  const hint = variables.length === 0 ? 'a list of keys' : `${variables.join(' or ')} in the environment, or a list of keys`
  report('api_keys', `missing; expected ${hint} (null when the server needs none)`)
  return undefined
}

/** Keys with other characters can never be sent: every call would fail before it leaves, and the failure would look like the provider's fault. */
function sendable(keys: readonly Secret[], path: string, report: Report): readonly Secret[] | undefined {
  if (keys.every((key) => isCredentialText(key.reveal()))) return keys
  report(path, '[hidden]; expected visible ASCII characters in one line, or the JSON file of a cloud account')
  return undefined
}

export interface ResolvedSettings {
  readonly settings: ProviderSettings
  /** False if the vendor's own settings are missing and an explicit base URL replaces them. */
  readonly connectable: boolean
}

/** The settings for `Provider.connect`, with vendor-specific ones validated. Undefined if they are wrong, which is then reported. */
export function resolveSettings(sources: ProviderSources, apiKeys: readonly Secret[], report: Report): ResolvedSettings | undefined {
  const { provider, config, env } = sources
  const fromEnv = Object.entries(provider?.env.settings ?? {}).map(([setting, variables]) => [setting, firstSet(variables, env)])
  const extra = { ...defined(Object.fromEntries(fromEnv) as Record<string, string | undefined>), ...config?.settings }
  const declared = defined({ baseUrl: configBaseUrl(sources) ?? envBaseUrl(provider, env), organization: config?.organization })
  const settings: ProviderSettings = { ...declared, apiKeys, options: config?.options ?? {}, extra }
  if (provider?.settings === undefined) return refuseSettings(config, report) ? undefined : { settings, connectable: true }
  const parsed = provider.settings.safeParse(extra)
  if (parsed.success) return { settings, connectable: true }
  if (config?.baseUrl !== undefined && Object.keys(extra).length === 0) return { settings, connectable: false }
  for (const issue of parsed.error.issues) {
    if (issue.code === 'unrecognized_keys') for (const key of issue.keys) report(`settings.${key}`, 'unknown setting of this provider')
    else reportSetting(issue.path.join('.'), extra, provider, report)
  }
  return undefined
}

/** `region` may be set for any provider; the catalog notes where it has no effect. */
function refuseSettings(config: ProviderConfig | undefined, report: Report): boolean {
  const unknown = Object.keys(config?.settings ?? {}).filter((key) => key !== 'region')
  for (const key of unknown) report(`settings.${key}`, 'unknown setting: this provider has none of its own')
  return unknown.length > 0
}

function reportSetting(name: string, extra: { readonly [key: string]: unknown }, provider: Provider, report: Report): void {
  const what = extra[name] === undefined ? 'missing' : 'of the wrong form'
  const variable = provider.env.settings?.[name]?.[0]
  report(`settings.${name}`, variable === undefined ? what : `${what}; expected ${name} here or ${variable} in the environment`)
}

/** Completes a base URL without a path, as vendors show them, unless the operator chose another format for it. */
function configBaseUrl({ provider, config }: ProviderSources): string | undefined {
  const url = URL.parse(config?.baseUrl ?? '')
  if (provider?.basePath === undefined || config?.dialect !== undefined || url === null || url.pathname !== '/') return config?.baseUrl
  return `${url.origin}${provider.basePath}`
}

/** Completes `localhost:11434` and `http://host` with a scheme and the path of the vendor's own base URL. */
function envBaseUrl(provider: Provider | undefined, env: Env): string | undefined {
  const value = firstSet(provider?.env.baseUrl, env)
  if (value === undefined) return undefined
  // Servers listen on 0.0.0.0 when the same variable says so, but clients cannot connect to that address.
  const url = URL.parse(/^https?:\/\//.test(value) ? value : `http://${value}`)
  if (url === null) return undefined
  if (url.hostname === '0.0.0.0') url.hostname = '127.0.0.1'
  const path = url.pathname.replace(/\/+$/, '')
  return `${url.origin}${path === '' ? (provider?.basePath ?? URL.parse(provider?.baseUrl ?? '')?.pathname ?? '') : path}`
}

/** Whether any of these variables has a value. */
export const isSet = (variables: readonly string[], env: Env): boolean => firstSet(variables, env) !== undefined

function firstSet(variables: readonly string[] | undefined, env: Env): string | undefined {
  for (const name of variables ?? []) {
    const value = env[name]?.trim()
    if (value !== undefined && value !== '') return value
  }
  return undefined
}
