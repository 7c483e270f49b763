import type { Provider } from '../core/provider.ts'

export const avian: Provider = {
  slug: 'avian',
  name: 'Avian',
  env: { apiKey: ['AVIAN_API_KEY'] },
  baseUrl: 'https://api.avian.io/v1',
  dialect: 'openai-chat',
  homepage: 'https://avian.io',
}
