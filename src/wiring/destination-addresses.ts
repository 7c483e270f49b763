import type { Config } from '../core/config.ts'
import { ConfigError, type ConfigProblem } from '../core/config-error.ts'
import type { Destination } from '../core/destination.ts'

const DEFAULT_SCHEMES: readonly string[] = ['https', 'http']

/**
 * Whether the operator's addresses (`destinations.base_urls`) suit their types. The types are loaded only if there are any, because the gateway's own
 * thread does not need them otherwise. Throws ConfigError.
 */
export async function checkDestinationAddresses({ destinations, file }: Config): Promise<void> {
  const { baseUrls } = destinations
  if (Object.keys(baseUrls).length === 0) return
  const { DESTINATIONS } = await import('../destinations/index.ts')
  const problems = addressProblems(baseUrls, DESTINATIONS)
  if (problems.length > 0) throw new ConfigError(problems, file)
}

/** Types that do not exist, and addresses whose scheme the type does not speak. */
export function addressProblems(
  baseUrls: Config['destinations']['baseUrls'],
  types: ReadonlyMap<string, Pick<Destination, 'baseUrlSchemes'>>,
): readonly ConfigProblem[] {
  return Object.entries(baseUrls).flatMap(([type, url]): ConfigProblem[] => {
    const path = `destinations.base_urls.${type}`
    const known = types.get(type)
    if (known === undefined) return [{ path, message: `there is no such destination type; expected one of: ${[...types.keys()].join(', ')}` }]
    if (url === null) return []
    const schemes = known.baseUrlSchemes ?? DEFAULT_SCHEMES
    const scheme = new URL(url).protocol.slice(0, -1)
    return schemes.includes(scheme) ? [] : [{ path, message: `${JSON.stringify(url)} begins with ${scheme}:; expected ${schemes.join(':, ')}:` }]
  })
}
