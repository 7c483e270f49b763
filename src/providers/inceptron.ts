import type { Provider } from '../core/provider.ts'

export const inceptron: Provider = {
  slug: 'inceptron',
  name: 'Inceptron',
  env: { apiKey: ['INCEPTRON_API_KEY'] },
  baseUrl: 'https://api.inceptron.io/v1',
  dialect: 'openai-chat',
  homepage: 'https://www.inceptron.io',
}
