import type { Provider } from '../core/provider.ts'

export const morph: Provider = {
  slug: 'morph',
  name: 'Morph',
  env: { apiKey: ['MORPH_API_KEY'] },
  baseUrl: 'https://api.morphllm.com/v1',
  dialect: 'openai-chat',
  homepage: 'https://morphllm.com',
}
