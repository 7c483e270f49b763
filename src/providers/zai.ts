import type { Provider } from '../core/provider.ts'

export const zai: Provider = {
  slug: 'zai',
  name: 'Z.AI',
  env: { apiKey: ['ZAI_API_KEY'] },
  baseUrl: 'https://api.z.ai/api/paas/v4',
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
  homepage: 'https://z.ai',
}
