import type { Provider } from '../core/provider.ts'

export const evroc: Provider = {
  slug: 'evroc',
  name: 'evroc',
  env: { apiKey: ['EVROC_API_KEY'] },
  baseUrl: 'https://models.think.evroc.com/v1',
  dialect: 'openai-chat',
  homepage: 'https://evroc.com',
}
