import type { Provider } from '../core/provider.ts'

export const localai: Provider = {
  slug: 'localai',
  name: 'LocalAI',
  env: { apiKey: ['LOCALAI_API_KEY'], baseUrl: ['LOCALAI_BASE_URL'] },
  baseUrl: 'http://127.0.0.1:8080/v1',
  dialect: 'openai-chat',
  options: { inline_images: true },
  keyless: true,
  policies: { dataCollection: 'deny', zdr: true },
  homepage: 'https://localai.io',
}
