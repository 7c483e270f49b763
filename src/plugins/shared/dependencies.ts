import type { Catalog } from '../../core/endpoint.ts'
import type { PluginsConfig } from '../../core/plugins-config.ts'
import type { ModelRequest } from '../../core/request.ts'
import type { DocumentReader, WebPages, WebSearch } from '../../core/web.ts'
import type { Egress } from '../../lib/egress.ts'

/** The dependencies of all plugins. */
export interface PluginDependencies {
  readonly config: PluginsConfig
  readonly env: { readonly [name: string]: string | undefined }
  readonly catalog: () => Catalog
  /** Estimated input tokens of a request, correct within about a third. */
  readonly tokensOf: (request: ModelRequest) => number
  /** The operator's panel for fusion. */
  readonly fusionModels: readonly string[] | undefined
  readonly search: WebSearch
  /** Fetches pages that callers name. */
  readonly pages: WebPages
  /** Fetches files that callers give by URL, under the operator's rules for media. */
  readonly files: WebPages
  readonly reader: DocumentReader
  /** The egress for addresses that the operator chose. */
  readonly operatorEgress: Egress
}
