import { buildCatalog, type BuiltCatalog } from '../catalog/build.ts'
import type { Env } from '../catalog/provider-settings.ts'
import type { Config } from '../core/config.ts'
import { ConfigError } from '../core/config-error.ts'
import { dialects } from '../dialects/index.ts'
import { PROVIDERS } from '../providers/index.ts'
import { checkDestinationAddresses } from './destination-addresses.ts'

/**
 * The catalog of a configuration that may be served: the same problems are named at a start, at a reload and by `check`. Throws ConfigError with those of
 * models and destinations together.
 */
export async function checkedCatalog(config: Config, env: Env): Promise<BuiltCatalog> {
  const [catalog, addresses] = await Promise.allSettled([buildCatalog(config, PROVIDERS, dialects, env), checkDestinationAddresses(config)])
  if (catalog.status === 'fulfilled' && addresses.status === 'fulfilled') return catalog.value
  throw new ConfigError([catalog, addresses].flatMap(problemsOf), config.file)
}

function problemsOf(result: PromiseSettledResult<unknown>): ConfigError['problems'] {
  if (result.status === 'fulfilled') return []
  if (!(result.reason instanceof ConfigError)) throw result.reason
  return result.reason.problems
}
