import type { Provider } from '../core/provider.ts'

export const berget: Provider = {
  slug: 'berget',
  name: 'Berget AI',
  env: { apiKey: ['BERGET_API_KEY'] },
  baseUrl: 'https://api.berget.ai/v1',
  dialect: 'openai-chat',
  homepage: 'https://berget.ai',
}
