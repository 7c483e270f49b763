import type { Provider } from '../core/provider.ts'

export const cortecs: Provider = {
  slug: 'cortecs',
  name: 'Cortecs',
  env: { apiKey: ['CORTECS_API_KEY'] },
  baseUrl: 'https://api.cortecs.ai/v1',
  dialect: 'openai-chat',
  homepage: 'https://cortecs.ai',
}
