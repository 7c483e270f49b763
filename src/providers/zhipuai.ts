import type { Provider } from '../core/provider.ts'

/** The Chinese platform of Z.AI. */
export const zhipuai: Provider = {
  slug: 'zhipuai',
  name: 'Zhipu AI',
  env: { apiKey: ['ZHIPUAI_API_KEY', 'ZHIPU_API_KEY'] },
  baseUrl: 'https://open.bigmodel.cn/api/paas/v4',
  dialect: 'openai-chat',
  options: {
    system_role: 'system',
    // Tools are always offered freely: neither one tool nor none can be forced.
    named_tool_choice: false,
    none_tool_choice: false,
    json_schema: 'json-object',
    reasoning_style: 'thinking-type',
    reasoning_replay: 'reasoning_content',
    think_tags: 'none',
    audio: 'none',
    video: 'video_url',
  },
  models: { author: 'z-ai' },
  homepage: 'https://open.bigmodel.cn',
}
