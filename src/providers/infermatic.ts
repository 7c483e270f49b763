import type { Provider } from '../core/provider.ts'

export const infermatic: Provider = {
  slug: 'infermatic',
  name: 'Infermatic',
  env: { apiKey: ['INFERMATIC_API_KEY'] },
  baseUrl: 'https://api.totalgpt.ai/v1',
  dialect: 'openai-chat',
  homepage: 'https://infermatic.ai',
}
