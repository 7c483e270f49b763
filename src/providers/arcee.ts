import type { Provider } from '../core/provider.ts'

export const arcee: Provider = {
  slug: 'arcee',
  name: 'Arcee AI',
  env: { apiKey: ['ARCEE_API_KEY', 'ARCEEAI_API_KEY'] },
  baseUrl: 'https://api.arcee.ai/api/v1',
  dialect: 'openai-chat',
  models: { author: 'arcee-ai' },
  homepage: 'https://www.arcee.ai',
}
