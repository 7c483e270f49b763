import type { Provider } from '../core/provider.ts'

export const friendli: Provider = {
  slug: 'friendli',
  name: 'Friendli',
  env: { apiKey: ['FRIENDLI_TOKEN', 'FRIENDLI_API_KEY'] },
  baseUrl: 'https://api.friendli.ai/serverless/v1',
  dialect: 'openai-chat',
  homepage: 'https://friendli.ai',
}
