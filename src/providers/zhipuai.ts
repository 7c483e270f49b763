import type { Provider } from '../core/provider.ts'
import { GLM_OPTIONS } from './shared/regional-options.ts'

/** The Chinese platform of Z.AI. */
export const zhipuai: Provider = {
  slug: 'zhipuai',
  name: 'Zhipu AI',
  env: { apiKey: ['ZHIPUAI_API_KEY', 'ZHIPU_API_KEY'] },
  baseUrl: 'https://open.bigmodel.cn/api/paas/v4',
  dialect: 'openai-chat',
  options: GLM_OPTIONS,
  models: { author: 'z-ai' },
  homepage: 'https://open.bigmodel.cn',
}
