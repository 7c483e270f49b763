import type { Provider } from '../core/provider.ts'

export const nscale: Provider = {
  slug: 'nscale',
  name: 'nscale',
  env: { apiKey: ['NSCALE_API_KEY', 'NSCALE_SERVICE_TOKEN'] },
  baseUrl: 'https://inference.api.nscale.com/v1',
  dialect: 'openai-chat',
  homepage: 'https://www.nscale.com',
}
