import { bifrost } from './bifrost/index.ts'
import { litellm } from './litellm/index.ts'
import { portkey } from './portkey/index.ts'
import type { Importer } from './shared/importer.ts'

/** Configurations of other gateways that can be read. */
export const IMPORTERS: readonly Importer[] = [litellm, bifrost, portkey]
