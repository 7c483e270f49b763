import type { Provider } from '../core/provider.ts'

export const crusoe: Provider = {
  slug: 'crusoe',
  name: 'Crusoe',
  env: { apiKey: ['CRUSOE_API_KEY'] },
  baseUrl: 'https://api.inference.crusoecloud.com/v1',
  dialect: 'openai-chat',
  homepage: 'https://www.crusoe.ai',
}
