import type { Provider } from '../core/provider.ts'

/** Ark (Doubao). Models are named by endpoint id or model id. */
export const volcengine: Provider = {
  slug: 'volcengine',
  name: 'Volcengine',
  env: { apiKey: ['ARK_API_KEY', 'VOLCENGINE_API_KEY'] },
  baseUrl: 'https://ark.cn-beijing.volces.com/api/v3',
  dialect: 'openai-chat',
  options: { system_role: 'system', reasoning_style: 'thinking-type', reasoning_replay: 'reasoning_content', think_tags: 'none', video: 'video_url' },
  models: { author: 'bytedance-seed' },
  homepage: 'https://www.volcengine.com/product/ark',
}
