/** Access to the web for other rooms, whoever provides it. Addresses that callers, models and pages choose go only through the safe egress. */

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
  /** As the engine writes it. */
  readonly published?: string
}

export interface SearchResult {
  readonly hits: readonly SearchHit[]
  /** USD. */
  readonly cost: number
}

export interface WebSearch {
  /** The engine that serves, by the name that was asked for or, without one, the operator's first; undefined: there is none ready. */
  readonly engine: (name?: string) => string | undefined
  /** USD of one search. */
  readonly price: (engine: string, query: SearchQuery) => number
  /** Throws GatewayError whose message may be shown to anybody. */
  readonly search: (engine: string, query: SearchQuery, signal: AbortSignal) => Promise<SearchResult>
}

export interface WebPage {
  /** Where it was found after redirects. */
  readonly url: string
  readonly status: number
  readonly title?: string
  readonly text: string
}

export interface PageRequest {
  readonly url: string
  /** Why an address may not be fetched, asked for every hop; undefined: it may. */
  readonly refuse: (url: string) => string | undefined
  readonly signal: AbortSignal
}

/** Reads pages without cookies or credentials. Throws GatewayError whose message may be shown to a model. */
export interface WebPages {
  readonly fetch: (request: PageRequest) => Promise<WebPage>
  /** The bytes at an address, for documents callers give by their address. */
  readonly download: (request: PageRequest) => Promise<Download>
}

export interface Download {
  readonly bytes: Uint8Array
  /** As the server says, lower case, without parameters. */
  readonly mimeType: string
  /** As the server says, lower case. */
  readonly charset?: string
}

export interface DocumentText {
  readonly title?: string
  readonly text: string
  readonly pages?: number
}

/** Text of documents within limits of time and memory. Throws GatewayError `unprocessable`. */
export interface DocumentReader {
  readonly read: (bytes: Uint8Array, kind: 'html' | 'pdf', signal: AbortSignal, charset?: string) => Promise<DocumentText>
}
