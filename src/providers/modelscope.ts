import type { Provider } from '../core/provider.ts'

export const modelscope: Provider = {
  slug: 'modelscope',
  name: 'ModelScope',
  env: { apiKey: ['MODELSCOPE_API_KEY'] },
  baseUrl: 'https://api-inference.modelscope.cn/v1',
  dialect: 'openai-chat',
  options: { reasoning_style: 'enable-thinking' },
  homepage: 'https://modelscope.cn',
}
