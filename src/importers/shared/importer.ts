import type { Note } from './notes.ts'

/** Reads the configuration of another gateway. There is one per format, listed in `index.ts`. */
export interface Importer {
  /** Its name on the command line. */
  readonly name: string
  /** Its common name. */
  readonly title: string
  /** The usual name of its file. */
  readonly file: string
  /** Absent if a configuration is always one file. */
  readonly included?: IncludedFiles
  /** Throws GatewayError if the file is not of this format. */
  readonly read: (tree: unknown, context: ImportContext) => Imported
}

/** Further files that the first one names. */
export interface IncludedFiles {
  /** The names as written, relative to the folder of the first file. */
  readonly filesOf: (tree: unknown) => readonly string[]
  /** Merges the files into one tree; `parts` are in the order of `filesOf`. */
  readonly join: (tree: unknown, parts: readonly unknown[]) => unknown
}

/** What an importer may use of this gateway; it has no other access to it. */
export interface ImportContext {
  /** Built-in providers by slug. */
  readonly vendors: ReadonlyMap<string, VendorFacts>
  /** The catalog's name for an id, as `author/slug`; ids without a known author belong to `fallbackAuthor`. */
  readonly modelName: (id: string, fallbackAuthor: string) => string
  /** Prices of an id at a built-in provider, in the form of our file; undefined if they are unknown. */
  readonly pricesOf: (vendor: string, id: string) => { readonly [price: string]: unknown } | undefined
  /** Whether a model of that name makes embeddings, as far as the gateway can tell. */
  readonly makesVectors: (slug: string) => boolean
}

export interface VendorFacts {
  /** Its default base URL; undefined if the address depends on the account. */
  readonly baseUrl?: string
  /** Whether it works without a credential. */
  readonly keyless: boolean
  /** The author of its models. */
  readonly author: string
}

export interface Imported {
  readonly file: FileDraft
  /** Everything that is not imported unchanged, by its path in the source. */
  readonly notes: readonly Note[]
}

/** A configuration in the form of our file. `config/schema.ts` defines its contents, and it is validated before it is handed out. */
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

/** Text is a reference to a variable. */
export interface RateLimitsDraft {
  readonly requests_per_minute?: number | string
  readonly tokens_per_minute?: number | string
  readonly concurrent_requests?: number | string
}
