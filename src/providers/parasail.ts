import type { Provider } from '../core/provider.ts'

export const parasail: Provider = {
  slug: 'parasail',
  name: 'Parasail',
  env: { apiKey: ['PARASAIL_API_KEY'] },
  baseUrl: 'https://api.parasail.io/v1',
  dialect: 'openai-chat',
  homepage: 'https://www.parasail.io',
}
