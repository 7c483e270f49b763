import { bifrost } from './bifrost/index.ts'
import { litellm } from './litellm/index.ts'
import { portkey } from './portkey/index.ts'
import type { Importer } from './shared/importer.ts'

/** The gateways whose configurations can be imported. */
export const IMPORTERS: readonly Importer[] = [litellm, bifrost, portkey]
