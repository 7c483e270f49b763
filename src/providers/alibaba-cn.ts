import type { Provider } from '../core/provider.ts'
import { QWEN_OPTIONS } from './shared/regional-options.ts'

/** Model Studio, China. Its keys differ from the international ones but share their variable, so it is switched on in the configuration. */
export const alibabaCn: Provider = {
  slug: 'alibaba-cn',
  name: 'Alibaba (China)',
  env: {},
  baseUrl: 'https://dashscope.aliyuncs.com/compatible-mode/v1',
  dialect: 'openai-chat',
  options: QWEN_OPTIONS,
  // "batch size is invalid, it should not be larger than 10"
  dialectOptions: { 'openai-embeddings': { most_inputs: 10 } },
  models: { author: 'qwen', supported: ['parallel_tool_calls'] },
  homepage: 'https://www.aliyun.com/product/bailian',
}
