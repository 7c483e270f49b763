import type { Provider } from '../core/provider.ts'

export const siliconflow: Provider = {
  slug: 'siliconflow',
  name: 'SiliconFlow',
  env: { apiKey: ['SILICONFLOW_API_KEY'] },
  baseUrl: 'https://api.siliconflow.com/v1',
  dialect: 'openai-chat',
  options: { reasoning_style: 'enable-thinking' },
  // "maximum allowed batch size 64"
  dialectOptions: { 'openai-embeddings': { most_inputs: 64 } },
  homepage: 'https://www.siliconflow.com',
}
