import type { Provider } from '../core/provider.ts'

export const nearai: Provider = {
  slug: 'nearai',
  name: 'NEAR AI',
  env: { apiKey: ['NEARAI_API_KEY'] },
  baseUrl: 'https://cloud-api.near.ai/v1',
  dialect: 'openai-chat',
  homepage: 'https://near.ai',
}
