import type { Provider } from '../core/provider.ts'

/** Model Studio, China: its keys differ from the international ones but share their variable, so it is switched on in the configuration. */
export const alibabaCn: Provider = {
  slug: 'alibaba-cn',
  name: 'Alibaba (China)',
  env: {},
  baseUrl: 'https://dashscope.aliyuncs.com/compatible-mode/v1',
  dialect: 'openai-chat',
  options: { reasoning_style: 'enable-thinking', think_tags: 'none', video: 'video_url', cache_breakpoints: true },
  models: { author: 'qwen' },
  homepage: 'https://www.aliyun.com/product/bailian',
}
