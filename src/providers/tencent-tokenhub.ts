import type { Provider } from '../core/provider.ts'

export const tencentTokenhub: Provider = {
  slug: 'tencent-tokenhub',
  name: 'Tencent TokenHub',
  env: { apiKey: ['TENCENT_TOKENHUB_API_KEY'] },
  baseUrl: 'https://tokenhub.tencentmaas.com/v1',
  dialect: 'openai-chat',
  homepage: 'https://cloud.tencent.com/document/product/1823/130050',
}
