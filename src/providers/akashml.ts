import type { Provider } from '../core/provider.ts'

export const akashml: Provider = {
  slug: 'akashml',
  name: 'AkashML',
  env: { apiKey: ['AKASHML_API_KEY'] },
  baseUrl: 'https://api.akashml.com/v1',
  dialect: 'openai-chat',
  homepage: 'https://akashml.com',
}
