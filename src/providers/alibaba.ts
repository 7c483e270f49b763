import type { Provider } from '../core/provider.ts'

/** Model Studio, international. */
export const alibaba: Provider = {
  slug: 'alibaba',
  name: 'Alibaba',
  env: { apiKey: ['DASHSCOPE_API_KEY'] },
  baseUrl: 'https://dashscope-intl.aliyuncs.com/compatible-mode/v1',
  dialect: 'openai-chat',
  options: { reasoning_style: 'enable-thinking', think_tags: 'none', video: 'video_url', cache_breakpoints: true },
  models: { author: 'qwen' },
  homepage: 'https://www.alibabacloud.com/en/product/modelstudio',
}
