import type { Provider } from '../core/provider.ts'

/** Qianfan, the second version of its API. */
export const baidu: Provider = {
  slug: 'baidu',
  name: 'Baidu',
  env: { apiKey: ['QIANFAN_API_KEY'] },
  baseUrl: 'https://qianfan.baidubce.com/v2',
  dialect: 'openai-chat',
  homepage: 'https://cloud.baidu.com/product-s/qianfan_home',
}
