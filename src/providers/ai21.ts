import type { Provider } from '../core/provider.ts'

export const ai21: Provider = {
  slug: 'ai21',
  name: 'AI21',
  env: { apiKey: ['AI21_API_KEY'] },
  baseUrl: 'https://api.ai21.com/studio/v1',
  dialect: 'openai-chat',
  homepage: 'https://www.ai21.com',
  privacyPolicy: 'https://www.ai21.com/privacy-policy/',
}
