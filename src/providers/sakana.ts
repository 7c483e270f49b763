import type { Provider } from '../core/provider.ts'

export const sakana: Provider = {
  slug: 'sakana',
  name: 'Sakana AI',
  env: { apiKey: ['SAKANA_API_KEY'] },
  baseUrl: 'https://api.sakana.ai/v1',
  dialect: 'openai-chat',
  homepage: 'https://sakana.ai',
}
