import type { Provider } from '../core/provider.ts'
import { DOUBAO_OPTIONS } from './shared/regional-options.ts'

/** Ark (Doubao). Models are named by endpoint id or model id. */
export const volcengine: Provider = {
  slug: 'volcengine',
  name: 'Volcengine',
  env: { apiKey: ['ARK_API_KEY', 'VOLCENGINE_API_KEY'] },
  baseUrl: 'https://ark.cn-beijing.volces.com/api/v3',
  dialect: 'openai-chat',
  options: DOUBAO_OPTIONS,
  models: { author: 'bytedance-seed' },
  homepage: 'https://www.volcengine.com/product/ark',
}
