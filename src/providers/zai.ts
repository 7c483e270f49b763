import type { Provider } from '../core/provider.ts'
import { GLM_OPTIONS } from './shared/regional-options.ts'

export const zai: Provider = {
  slug: 'zai',
  name: 'Z.AI',
  env: { apiKey: ['ZAI_API_KEY'] },
  baseUrl: 'https://api.z.ai/api/paas/v4',
  dialect: 'openai-chat',
  options: GLM_OPTIONS,
  models: { author: 'z-ai' },
  homepage: 'https://z.ai',
}
