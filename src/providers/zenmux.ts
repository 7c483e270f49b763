import type { Provider } from '../core/provider.ts'

export const zenmux: Provider = {
  slug: 'zenmux',
  name: 'ZenMux',
  env: { apiKey: ['ZENMUX_API_KEY'] },
  baseUrl: 'https://zenmux.ai/api/v1',
  dialect: 'openai-chat',
  options: { reasoning_style: 'effort' },
  homepage: 'https://zenmux.ai',
}
