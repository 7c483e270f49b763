import type { Note } from './notes.ts'

/** Reads the configuration of another gateway. One per format; `index.ts` lists them. */
export interface Importer {
  /** As the command line names it. */
  readonly name: string
  /** As people call it. */
  readonly title: string
  /** What its file usually is. */
  readonly file: string
  /** Left out where a configuration is one file. */
  readonly included?: IncludedFiles
  /** Throws GatewayError for a file that is none of this format. */
  readonly read: (tree: unknown, context: ImportContext) => Imported
}

/** Further files that the first one names. */
export interface IncludedFiles {
  /** As they are written, relative to the folder of the first. */
  readonly filesOf: (tree: unknown) => readonly string[]
  /** All of it as one; `parts` in the order of `filesOf`. */
  readonly join: (tree: unknown, parts: readonly unknown[]) => unknown
}

/** What an importer is told of this gateway; it knows nothing of it by itself. */
export interface ImportContext {
  /** Built-in providers by slug. */
  readonly vendors: ReadonlyMap<string, VendorFacts>
  /** The catalog's name for an id, as `author/slug`; ids of no known author belong to `fallbackAuthor`. */
  readonly modelName: (id: string, fallbackAuthor: string) => string
  /** Prices of an id at a built-in provider, as our file says them; undefined where nobody knows one. */
  readonly pricesOf: (vendor: string, id: string) => { readonly [price: string]: unknown } | undefined
  /** Whether a model of that name makes vectors as far as the gateway can tell. */
  readonly makesVectors: (slug: string) => boolean
}

export interface VendorFacts {
  /** Where it lives unless told; undefined for those whose address depends on the account. */
  readonly baseUrl?: string
  /** Whether it works without a credential. */
  readonly keyless: boolean
  /** Author of its models. */
  readonly author: string
}

export interface Imported {
  readonly file: FileDraft
  /** Everything that is not carried as it was, by its path in the source. */
  readonly notes: readonly Note[]
}

/** A configuration as it is written; what it may hold is said in `config/schema.ts`, and whether it does is checked before it is handed out. */
export interface FileDraft {
  readonly providers: readonly ProviderDraft[]
  readonly models: readonly ModelDraft[]
  readonly [section: string]: unknown
}

export interface ProviderDraft {
  readonly slug: string
  readonly vendor?: string
  readonly dialect?: string
  readonly base_url?: string
  readonly api_keys?: readonly string[] | null
  readonly organization?: string
  readonly settings?: { readonly [name: string]: unknown }
  readonly headers?: { readonly [name: string]: string }
  readonly timeouts?: { readonly [name: string]: string }
  readonly open_models?: boolean
}

export interface ModelDraft {
  readonly slug: string
  readonly answers?: 'embeddings'
  readonly aliases?: readonly string[]
  readonly only_listed: true
  readonly endpoints: readonly EndpointDraft[]
}

export interface EndpointDraft {
  readonly provider: string
  readonly upstream_model: string
  readonly weight?: number
  readonly rate_limits?: RateLimitsDraft
  readonly pricing?: { readonly [price: string]: unknown }
  readonly context_length?: number | string
  readonly max_output_tokens?: number | string
}

/** Text: a reference to a variable. */
export interface RateLimitsDraft {
  readonly requests_per_minute?: number | string
  readonly tokens_per_minute?: number | string
  readonly concurrent_requests?: number | string
}
