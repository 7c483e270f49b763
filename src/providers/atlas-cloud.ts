import type { Provider } from '../core/provider.ts'

export const atlasCloud: Provider = {
  slug: 'atlas-cloud',
  name: 'AtlasCloud',
  env: { apiKey: ['ATLASCLOUD_API_KEY'] },
  baseUrl: 'https://api.atlascloud.ai/v1',
  dialect: 'openai-chat',
  homepage: 'https://www.atlascloud.ai',
}
