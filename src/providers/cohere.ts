import type { Provider } from '../core/provider.ts'

export const cohere: Provider = {
  slug: 'cohere',
  name: 'Cohere',
  env: { apiKey: ['COHERE_API_KEY', 'CO_API_KEY'] },
  baseUrl: 'https://api.cohere.com/v2',
  dialect: 'cohere-v2',
  models: {
    // https://docs.cohere.com/docs/models: the API knows these models by their dated ids.
    ids: {
      'command-a': 'command-a-03-2025',
      'command-r': 'command-r-08-2024',
      'command-r-plus': 'command-r-plus-08-2024',
      'command-r7b': 'command-r7b-12-2024',
    },
  },
  homepage: 'https://cohere.com',
  statusPage: 'https://status.cohere.com',
  privacyPolicy: 'https://cohere.com/privacy',
  termsOfService: 'https://cohere.com/terms-of-use',
}
