import type { Authenticator } from '../core/account.ts'
import type { Owner } from '../core/call.ts'
import type { Config } from '../core/config.ts'
import { SORT_KEYS, type ProviderPreferences, type SortKey } from '../core/request.ts'

/** Defaults of a workspace and of the configuration for requests that leave them open. The workspace takes precedence. */
export interface OwnerDefaults {
  /** For calls that name no model. */
  readonly model?: string
  /** For calls for images that name no model. */
  readonly imageModel?: string
  readonly promptCaching?: '5m' | '1h'
  readonly provider?: ProviderPreferences
  readonly cooldown: boolean
  readonly sticky: boolean
}

type Wanted = Pick<Config, 'defaults' | 'routing'>

/** Compiled once per owner, so that one map lookup suffices: the snapshot creates new owner objects whenever keys or workspaces change. */
export function createRoutingDefaults(authenticator: Pick<Authenticator, 'workspace'>, config: () => Wanted): (owner: Owner) => OwnerDefaults {
  let compiled = new WeakMap<Owner, OwnerDefaults>()
  let compiledFor: Wanted | undefined
  return (owner) => {
    const current = config()
    if (current !== compiledFor) {
      compiled = new WeakMap()
      compiledFor = current
    }
    let defaults = compiled.get(owner)
    if (defaults === undefined) {
      defaults = compile(authenticator.workspace(owner.workspaceId)?.settings ?? {}, current)
      compiled.set(owner, defaults)
    }
    return defaults
  }
}

function compile(settings: { readonly [name: string]: unknown }, { defaults, routing }: Wanted): OwnerDefaults {
  const model = textOf(settings['default_text_model']) ?? defaults.model
  const imageModel = textOf(settings['default_image_model'])
  const sort = SORT_KEYS.find((key): key is SortKey => key === settings['default_provider_sort'])
  return {
    cooldown: routing.cooldown,
    sticky: routing.sticky,
    ...(model === undefined ? {} : { model }),
    ...(imageModel === undefined ? {} : { imageModel }),
    ...(defaults.prompt_caching === undefined ? {} : { promptCaching: defaults.prompt_caching }),
    ...(sort === undefined ? {} : { provider: { sort } }),
  }
}

/** A row that was edited by hand never causes an error. */
const textOf = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined)
