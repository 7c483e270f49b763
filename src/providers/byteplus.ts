import type { Provider } from '../core/provider.ts'
import { DOUBAO_OPTIONS } from './shared/regional-options.ts'

/** ModelArk, the international twin of Volcengine Ark. */
export const byteplus: Provider = {
  slug: 'byteplus',
  name: 'BytePlus',
  env: { apiKey: ['BYTEPLUS_API_KEY'] },
  baseUrl: 'https://ark.ap-southeast.bytepluses.com/api/v3',
  dialect: 'openai-chat',
  options: DOUBAO_OPTIONS,
  models: { author: 'bytedance-seed' },
  homepage: 'https://www.byteplus.com/en/product/modelark',
}
