import type { Provider } from '../core/provider.ts'

export const gmicloud: Provider = {
  slug: 'gmicloud',
  name: 'GMICloud',
  env: { apiKey: ['GMICLOUD_API_KEY', 'GMI_API_KEY'] },
  baseUrl: 'https://api.gmi-serving.com/v1',
  dialect: 'openai-chat',
  homepage: 'https://www.gmicloud.ai',
}
