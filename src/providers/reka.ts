import type { Provider } from '../core/provider.ts'

export const reka: Provider = {
  slug: 'reka',
  name: 'Reka',
  env: { apiKey: ['REKA_API_KEY'] },
  baseUrl: 'https://api.reka.ai/v1',
  dialect: 'openai-chat',
  models: { author: 'rekaai' },
  homepage: 'https://reka.ai',
}
