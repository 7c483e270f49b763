import type { Provider } from '../core/provider.ts'

export const sambanova: Provider = {
  slug: 'sambanova',
  name: 'SambaNova',
  env: { apiKey: ['SAMBANOVA_API_KEY'] },
  baseUrl: 'https://api.sambanova.ai/v1',
  dialect: 'openai-chat',
  homepage: 'https://sambanova.ai',
  privacyPolicy: 'https://sambanova.ai/privacy-policy',
}
