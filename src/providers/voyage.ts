import type { Provider } from '../core/provider.ts'
import { questionsAnd } from './shared/input-types.ts'

/** Serves embeddings only. https://docs.voyageai.com/reference/embeddings-api */
export const voyage: Provider = {
  slug: 'voyage',
  name: 'VoyageAI by MongoDB',
  env: { apiKey: ['VOYAGE_API_KEY', 'VOYAGEAI_API_KEY'] },
  baseUrl: 'https://api.voyageai.com/v1',
  dialect: 'openai-embeddings',
  options: {
    dimensions_field: 'output_dimension',
    // "Argument 'user' is not supported by our API"
    user: false,
    // The limit of its larger models; the smaller ones accept more.
    most_tokens: 120_000,
    input_types: questionsAnd('document'),
  },
  priceProvider: 'voyageai',
  // These are served at another address, in a different format.
  models: { exclude: /-context-/ },
  homepage: 'https://www.voyageai.com',
  privacyPolicy: 'https://www.voyageai.com/privacy',
  termsOfService: 'https://www.voyageai.com/terms-of-service',
}
