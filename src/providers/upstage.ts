import type { Provider } from '../core/provider.ts'

export const upstage: Provider = {
  slug: 'upstage',
  name: 'Upstage',
  env: { apiKey: ['UPSTAGE_API_KEY'] },
  baseUrl: 'https://api.upstage.ai/v1',
  dialect: 'openai-chat',
  options: { reasoning_style: 'effort' },
  homepage: 'https://www.upstage.ai',
}
