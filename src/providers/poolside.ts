import type { Provider } from '../core/provider.ts'

export const poolside: Provider = {
  slug: 'poolside',
  name: 'Poolside',
  env: { apiKey: ['POOLSIDE_API_KEY'] },
  baseUrl: 'https://inference.poolside.ai/v1',
  dialect: 'openai-chat',
  homepage: 'https://poolside.ai',
}
