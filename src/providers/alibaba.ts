import type { Provider } from '../core/provider.ts'
import { QWEN_OPTIONS } from './shared/regional-options.ts'

/** Model Studio, international. */
export const alibaba: Provider = {
  slug: 'alibaba',
  name: 'Alibaba',
  env: { apiKey: ['DASHSCOPE_API_KEY'] },
  baseUrl: 'https://dashscope-intl.aliyuncs.com/compatible-mode/v1',
  dialect: 'openai-chat',
  options: QWEN_OPTIONS,
  // "batch size is invalid, it should not be larger than 10"
  dialectOptions: { 'openai-embeddings': { most_inputs: 10 } },
  models: { author: 'qwen', supported: ['parallel_tool_calls'] },
  homepage: 'https://www.alibabacloud.com/en/product/modelstudio',
}
