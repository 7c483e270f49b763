import type { Provider } from '../core/provider.ts'

export const featherless: Provider = {
  slug: 'featherless',
  name: 'Featherless',
  env: { apiKey: ['FEATHERLESS_API_KEY', 'FEATHERLESS_AI_API_KEY'] },
  baseUrl: 'https://api.featherless.ai/v1',
  dialect: 'openai-chat',
  homepage: 'https://featherless.ai',
}
