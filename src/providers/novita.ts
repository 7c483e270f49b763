import type { Provider } from '../core/provider.ts'

export const novita: Provider = {
  slug: 'novita',
  name: 'Novita',
  env: { apiKey: ['NOVITA_API_KEY'] },
  baseUrl: 'https://api.novita.ai/openai/v1',
  dialect: 'openai-chat',
  homepage: 'https://novita.ai',
  privacyPolicy: 'https://novita.ai/legal/privacy-policy',
}
