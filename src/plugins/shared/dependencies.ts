import type { Catalog } from '../../core/endpoint.ts'
import type { PluginsConfig } from '../../core/plugins-config.ts'
import type { ModelRequest } from '../../core/request.ts'
import type { DocumentReader, WebPages, WebSearch } from '../../core/web.ts'
import type { Egress } from '../../lib/egress.ts'

/** What plugins are made with. */
export interface PluginDependencies {
  readonly config: PluginsConfig
  readonly env: { readonly [name: string]: string | undefined }
  readonly catalog: () => Catalog
  /** Tokens of a request's input, estimated: right within about a third. */
  readonly tokensOf: (request: ModelRequest) => number
  /** The operator's panel for fusion. */
  readonly fusionModels: readonly string[] | undefined
  readonly search: WebSearch
  /** The way to pages that callers name. */
  readonly pages: WebPages
  /** The way to files that callers give by their address: media, by the operator's rules for media. */
  readonly files: WebPages
  readonly reader: DocumentReader
  /** The way out for addresses the operator chose. */
  readonly operatorEgress: Egress
}
