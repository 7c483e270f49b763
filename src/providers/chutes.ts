import type { Provider } from '../core/provider.ts'

export const chutes: Provider = {
  slug: 'chutes',
  name: 'Chutes',
  env: { apiKey: ['CHUTES_API_KEY'] },
  baseUrl: 'https://llm.chutes.ai/v1',
  dialect: 'openai-chat',
  homepage: 'https://chutes.ai',
}
