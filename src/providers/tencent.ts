import type { Provider } from '../core/provider.ts'

/** Hunyuan. */
export const tencent: Provider = {
  slug: 'tencent',
  name: 'Tencent',
  env: { apiKey: ['HUNYUAN_API_KEY'] },
  baseUrl: 'https://api.hunyuan.cloud.tencent.com/v1',
  dialect: 'openai-chat',
  options: { reasoning_style: 'enable-thinking' },
  homepage: 'https://cloud.tencent.com/product/hunyuan',
}
