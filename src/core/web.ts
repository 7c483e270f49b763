/** Access to the web for other rooms, independent of who provides it. Addresses chosen by callers, models or pages use only the safe egress. */

/** A search in terms that every engine understands. */
export interface SearchQuery {
  readonly query: string
  readonly maxResults: number
  readonly allowedDomains: readonly string[]
  readonly excludedDomains: readonly string[]
  readonly contextSize?: 'low' | 'medium' | 'high'
  /** Characters of content per result. */
  readonly maxCharacters?: number
  readonly mode?: string
}

export interface SearchHit {
  readonly url: string
  readonly title: string
  readonly content: string
  /** In the engine's own format. */
  readonly published?: string
}

export interface SearchResult {
  readonly hits: readonly SearchHit[]
  /** USD. */
  readonly cost: number
}

export interface WebSearch {
  /** The engine that would be used: the one with the given name, or else the operator's first; undefined if none is ready. */
  readonly engine: (name?: string) => string | undefined
  /** USD per search. */
  readonly price: (engine: string, query: SearchQuery) => number
  /** Throws GatewayError; its message may be shown to anyone. */
  readonly search: (engine: string, query: SearchQuery, signal: AbortSignal) => Promise<SearchResult>
}

export interface WebPage {
  /** The final address after redirects. */
  readonly url: string
  readonly status: number
  readonly title?: string
  readonly text: string
}

export interface PageRequest {
  readonly url: string
  /** Why an address may not be fetched; undefined if it may. Called for every hop. */
  readonly refuse: (url: string) => string | undefined
  readonly signal: AbortSignal
}

/** Reads pages without cookies or credentials. Throws GatewayError; its message may be shown to a model. */
export interface WebPages {
  readonly fetch: (request: PageRequest) => Promise<WebPage>
  /** The bytes at an address, for documents that callers specify by address. */
  readonly download: (request: PageRequest) => Promise<Download>
}

export interface Download {
  readonly bytes: Uint8Array
  /** As reported by the server; lower case, without parameters. */
  readonly mimeType: string
  /** As reported by the server; lower case. */
  readonly charset?: string
}

export interface DocumentText {
  readonly title?: string
  readonly text: string
  readonly pages?: number
}

/** Extracts the text of documents, within limits of time and memory. Throws GatewayError `unprocessable`. */
export interface DocumentReader {
  readonly read: (bytes: Uint8Array, kind: 'html' | 'pdf', signal: AbortSignal, charset?: string) => Promise<DocumentText>
}
