import type { Provider } from '../core/provider.ts'

export const publicai: Provider = {
  slug: 'publicai',
  name: 'Public AI',
  env: { apiKey: ['PUBLICAI_API_KEY'] },
  baseUrl: 'https://api.publicai.co/v1',
  dialect: 'openai-chat',
  homepage: 'https://publicai.co',
}
