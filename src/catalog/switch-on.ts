import { ZodObject, type ZodType } from 'zod'
import type { Config } from '../core/config.ts'
import type { Provider } from '../core/provider.ts'
import { isOnByEnv, isSet, type Env } from './provider-settings.ts'

/** The environment variables that switch a built-in provider on. */
export interface SwitchOn {
  /** Any one of these suffices. If empty, only an entry under `providers` switches the provider on. */
  readonly variables: readonly string[]
  /** Further settings that it requires, each given by any one of its variables. */
  readonly needs: readonly { readonly setting: string; readonly variables: readonly string[] }[]
  /** Settings that it reads from the environment if present. Whether they are needed may depend on the kind of credential. */
  readonly takes: SwitchOn['needs']
}

export function switchOnOf(provider: Provider): SwitchOn {
  const { apiKey = [], baseUrl = [] } = provider.env
  const needs = needsOf(provider)
  const named = new Set(needs.flatMap(({ variables }) => variables))
  const takes = Object.entries(provider.env.settings ?? {})
    .filter(([, variables]) => !variables.some((variable) => named.has(variable)))
    .map(([setting, variables]) => ({ setting, variables }))
  return { variables: provider.keyless === true ? baseUrl : apiKey, needs, takes }
}

function needsOf(provider: Provider): SwitchOn['needs'] {
  const { settings, env, connect } = provider
  const shape: { readonly [name: string]: ZodType } = settings instanceof ZodObject ? settings.shape : {}
  const required = Object.keys(shape).filter((name) => !shape[name]!.safeParse(undefined).success)
  if (required.length > 0) return required.map((setting) => ({ setting, variables: env.settings?.[setting] ?? [] }))
  // The address may follow from either of several settings, none of which is required by itself.
  if ((provider.baseUrl ?? connect?.({ apiKeys: [], options: {}, extra: {} }).baseUrl) !== undefined) return []
  const variables = [...Object.values(env.settings ?? {}).flat(), ...(env.baseUrl ?? [])]
  return [{ setting: [...Object.keys(env.settings ?? {}), 'base_url'].join(' or '), variables }]
}

/** Describes what switches on a provider that is off. */
export function howToSwitchOn(provider: Provider, env: Env, config?: Pick<Config, 'providers'>): string {
  if (config?.providers.some(({ slug, enabled }) => slug === provider.slug && !enabled) === true) return 'the configuration disables it'
  const { variables, needs } = switchOnOf(provider)
  if (variables.length === 0) return 'add an entry for it under providers'
  const missing = [
    ...(isOnByEnv(provider, env) ? [] : [variables[0]!]),
    ...needs.filter((need) => !isSet(need.variables, env)).map((need) => need.variables[0] ?? need.setting),
  ]
  return missing.length === 0 ? 'its settings are wrong, as signalbox check says' : `set ${missing.join(' and ')}`
}
