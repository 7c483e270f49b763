import type { Provider } from '../core/provider.ts'

export const wafer: Provider = {
  slug: 'wafer',
  name: 'Wafer',
  env: { apiKey: ['WAFER_API_KEY'] },
  baseUrl: 'https://pass.wafer.ai/v1',
  dialect: 'openai-chat',
  homepage: 'https://www.wafer.ai',
}
