import type { Provider } from '../core/provider.ts'

/** ModelArk, the international twin of Volcengine Ark. */
export const byteplus: Provider = {
  slug: 'byteplus',
  name: 'BytePlus',
  env: { apiKey: ['BYTEPLUS_API_KEY'] },
  baseUrl: 'https://ark.ap-southeast.bytepluses.com/api/v3',
  dialect: 'openai-chat',
  options: { system_role: 'system', reasoning_style: 'thinking-type', reasoning_replay: 'reasoning_content', think_tags: 'none', video: 'video_url' },
  models: { author: 'bytedance-seed' },
  homepage: 'https://www.byteplus.com/en/product/modelark',
}
