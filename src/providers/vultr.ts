import type { Provider } from '../core/provider.ts'

export const vultr: Provider = {
  slug: 'vultr',
  name: 'Vultr',
  env: { apiKey: ['VULTR_API_KEY'] },
  baseUrl: 'https://api.vultrinference.com/v1',
  dialect: 'openai-chat',
  homepage: 'https://www.vultr.com/products/cloud-inference/',
  statusPage: 'https://status.vultr.com',
  privacyPolicy: 'https://www.vultr.com/legal/privacy/',
}
