import type { Provider } from '../core/provider.ts'

export const poe: Provider = {
  slug: 'poe',
  name: 'Poe',
  env: { apiKey: ['POE_API_KEY'] },
  baseUrl: 'https://api.poe.com/v1',
  dialect: 'openai-chat',
  options: { reasoning_style: 'effort' },
  homepage: 'https://poe.com',
}
