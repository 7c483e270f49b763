import { GatewayError } from '../../core/error.ts'

/** Models as this format lists them: https://ai.google.dev/api/models */

interface Model {
  readonly id: string
  readonly name: string
  readonly description?: string | undefined
  readonly context_length: number | null
  readonly supported_parameters: readonly string[]
  readonly architecture: { readonly output_modalities: readonly string[] }
  readonly top_provider: { readonly max_completion_tokens: number | null }
}

export interface ListedModel {
  readonly name: string
  readonly displayName: string
  readonly description?: string
  readonly version: string
  readonly inputTokenLimit?: number
  readonly outputTokenLimit?: number
  readonly supportedGenerationMethods: string[]
  readonly thinking: boolean
}

export function asListedModel(model: Model): ListedModel {
  const { id, name, description, context_length: window, top_provider: provider } = model
  return {
    name: `models/${id}`,
    displayName: name,
    ...(description === undefined ? {} : { description }),
    version: '',
    ...(window === null ? {} : { inputTokenLimit: window }),
    ...(provider.max_completion_tokens === null ? {} : { outputTokenLimit: provider.max_completion_tokens }),
    supportedGenerationMethods: model.architecture.output_modalities.includes('embeddings')
      ? ['embedContent', 'batchEmbedContents']
      : ['generateContent', 'countTokens'],
    thinking: model.supported_parameters.includes('reasoning'),
  }
}

const PAGE_SIZE = 50
const MAX_PAGE_SIZE = 1_000

/**
 * One page of the models for text, followed by those for embeddings. The page token is the number of models before the next page. `listed`: the models for
 * a query. Throws GatewayError `invalid_request` for an invalid page size or token.
 */
export function listedPage(
  listed: (query: URLSearchParams) => { readonly data: readonly Model[] },
  search: URLSearchParams,
): { readonly models: ListedModel[]; readonly nextPageToken?: string } {
  const models = ['', 'output_modalities=embeddings'].flatMap((query) => listed(new URLSearchParams(query)).data)
  const size = Math.min(numberIn(search, 'pageSize') || PAGE_SIZE, MAX_PAGE_SIZE)
  const from = numberIn(search, 'pageToken') ?? 0
  const page = models.slice(from, from + size).map(asListedModel)
  return { models: page, ...(from + size < models.length ? { nextPageToken: String(from + size) } : {}) }
}

function numberIn(search: URLSearchParams, name: string): number | undefined {
  const written = search.get(name)
  if (written === null || written === '') return undefined
  if (!/^\d{1,9}$/.test(written)) throw new GatewayError('invalid_request', `${name} must be a number a page has given or asked for`, { path: name })
  return Number(written)
}
