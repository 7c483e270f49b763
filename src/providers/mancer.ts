import type { Provider } from '../core/provider.ts'

export const mancer: Provider = {
  slug: 'mancer',
  name: 'Mancer 2',
  env: { apiKey: ['MANCER_API_KEY'] },
  baseUrl: 'https://neuro.mancer.tech/oai/v1',
  dialect: 'openai-chat',
  homepage: 'https://mancer.tech',
}
