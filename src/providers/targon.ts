import type { Provider } from '../core/provider.ts'

export const targon: Provider = {
  slug: 'targon',
  name: 'Targon',
  env: { apiKey: ['TARGON_API_KEY'] },
  baseUrl: 'https://api.targon.com/v1',
  dialect: 'openai-chat',
  homepage: 'https://targon.com',
}
