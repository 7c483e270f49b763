import type { Provider } from '../core/provider.ts'

export const doubleword: Provider = {
  slug: 'doubleword',
  name: 'Doubleword',
  env: { apiKey: ['DOUBLEWORD_API_KEY'] },
  baseUrl: 'https://api.doubleword.ai/v1',
  dialect: 'openai-chat',
  homepage: 'https://www.doubleword.ai',
}
