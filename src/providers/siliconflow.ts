import type { Provider } from '../core/provider.ts'

export const siliconflow: Provider = {
  slug: 'siliconflow',
  name: 'SiliconFlow',
  env: { apiKey: ['SILICONFLOW_API_KEY'] },
  baseUrl: 'https://api.siliconflow.com/v1',
  dialect: 'openai-chat',
  options: { reasoning_style: 'enable-thinking' },
  homepage: 'https://www.siliconflow.com',
}
