import type { Provider } from '../core/provider.ts'

export const ambient: Provider = {
  slug: 'ambient',
  name: 'Ambient',
  env: { apiKey: ['AMBIENT_API_KEY'] },
  baseUrl: 'https://api.ambient.xyz/v1',
  dialect: 'openai-chat',
  homepage: 'https://ambient.xyz',
}
