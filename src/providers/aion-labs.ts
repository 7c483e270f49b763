import type { Provider } from '../core/provider.ts'

export const aionLabs: Provider = {
  slug: 'aion-labs',
  name: 'AionLabs',
  env: { apiKey: ['AIONLABS_API_KEY'] },
  baseUrl: 'https://api.aionlabs.ai/v1',
  dialect: 'openai-chat',
  homepage: 'https://www.aionlabs.ai',
}
