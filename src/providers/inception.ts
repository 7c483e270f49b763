import type { Provider } from '../core/provider.ts'

export const inception: Provider = {
  slug: 'inception',
  name: 'Inception',
  env: { apiKey: ['INCEPTION_API_KEY', 'INCEPTIONLABS_API_KEY'] },
  baseUrl: 'https://api.inceptionlabs.ai/v1',
  dialect: 'openai-chat',
  options: { reasoning_style: 'effort' },
  homepage: 'https://www.inceptionlabs.ai',
}
