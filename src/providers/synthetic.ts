import type { Provider } from '../core/provider.ts'

export const synthetic: Provider = {
  slug: 'synthetic',
  name: 'Synthetic',
  env: { apiKey: ['SYNTHETIC_API_KEY'] },
  baseUrl: 'https://api.synthetic.new/openai/v1',
  dialect: 'openai-chat',
  homepage: 'https://synthetic.new',
}
