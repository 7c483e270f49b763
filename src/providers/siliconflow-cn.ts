import type { Provider } from '../core/provider.ts'

export const siliconflowCn: Provider = {
  slug: 'siliconflow-cn',
  name: 'SiliconFlow (China)',
  env: { apiKey: ['SILICONFLOW_CN_API_KEY'] },
  baseUrl: 'https://api.siliconflow.cn/v1',
  dialect: 'openai-chat',
  options: { reasoning_style: 'enable-thinking' },
  // "maximum allowed batch size 64"
  dialectOptions: { 'openai-embeddings': { most_inputs: 64 } },
  homepage: 'https://siliconflow.cn',
}
