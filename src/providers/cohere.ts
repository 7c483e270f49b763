import type { Provider } from '../core/provider.ts'

export const cohere: Provider = {
  slug: 'cohere',
  name: 'Cohere',
  env: { apiKey: ['COHERE_API_KEY', 'CO_API_KEY'] },
  baseUrl: 'https://api.cohere.com/v2',
  dialect: 'cohere-v2',
  homepage: 'https://cohere.com',
  statusPage: 'https://status.cohere.com',
  privacyPolicy: 'https://cohere.com/privacy',
  termsOfService: 'https://cohere.com/terms-of-use',
}
