import type { Provider } from '../core/provider.ts'

export const xinference: Provider = {
  slug: 'xinference',
  name: 'Xinference',
  env: { apiKey: ['XINFERENCE_API_KEY'], baseUrl: ['XINFERENCE_BASE_URL', 'XINFERENCE_API_BASE'] },
  baseUrl: 'http://127.0.0.1:9997/v1',
  dialect: 'openai-chat',
  options: { inline_images: true },
  keyless: true,
  policies: { dataCollection: 'deny', zdr: true },
  homepage: 'https://inference.readthedocs.io',
}
