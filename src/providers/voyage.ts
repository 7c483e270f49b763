import type { Provider } from '../core/provider.ts'
import { questionsAnd } from './shared/input-types.ts'

/** Makes embeddings, and nothing else. https://docs.voyageai.com/reference/embeddings-api */
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
    // Of its larger models; the smaller ones take more.
    most_tokens: 120_000,
    input_types: questionsAnd('document'),
  },
  priceProvider: 'voyageai',
  // Asked elsewhere, in a format of its own.
  models: { exclude: /-context-/ },
  homepage: 'https://www.voyageai.com',
  privacyPolicy: 'https://www.voyageai.com/privacy',
  termsOfService: 'https://www.voyageai.com/terms-of-service',
}
