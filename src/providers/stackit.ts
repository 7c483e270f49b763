import type { Provider } from '../core/provider.ts'

export const stackit: Provider = {
  slug: 'stackit',
  name: 'STACKIT',
  env: { apiKey: ['STACKIT_API_KEY'] },
  baseUrl: 'https://api.openai-compat.model-serving.eu01.onstackit.cloud/v1',
  dialect: 'openai-chat',
  homepage: 'https://www.stackit.de',
}
