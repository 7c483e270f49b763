import type { Provider } from '../core/provider.ts'

export const aihubmix: Provider = {
  slug: 'aihubmix',
  name: 'AIHubMix',
  env: { apiKey: ['AIHUBMIX_API_KEY'] },
  baseUrl: 'https://aihubmix.com/v1',
  dialect: 'openai-chat',
  options: { reasoning_style: 'effort' },
  homepage: 'https://docs.aihubmix.com',
}
