import type { Provider } from '../core/provider.ts'

export const ai302: Provider = {
  slug: '302ai',
  name: '302.AI',
  // The second name is the usual one, but no shell can set it, because names there cannot begin with a digit.
  env: { apiKey: ['AI302_API_KEY', '302AI_API_KEY'] },
  baseUrl: 'https://api.302.ai/v1',
  dialect: 'openai-chat',
  homepage: 'https://302.ai',
}
