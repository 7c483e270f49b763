import type { Provider } from '../core/provider.ts'

export const hyperbolic: Provider = {
  slug: 'hyperbolic',
  name: 'Hyperbolic',
  env: { apiKey: ['HYPERBOLIC_API_KEY'] },
  baseUrl: 'https://api.hyperbolic.xyz/v1',
  dialect: 'openai-chat',
  homepage: 'https://www.hyperbolic.ai',
}
