import type { Provider } from '../core/provider.ts'

export const moonshotai: Provider = {
  slug: 'moonshotai',
  name: 'Moonshot AI',
  env: { apiKey: ['MOONSHOT_API_KEY'] },
  baseUrl: 'https://api.moonshot.ai/v1',
  dialect: 'openai-chat',
  options: {
    system_role: 'system',
    max_temperature: 1,
    forward: ['prompt_cache_key'],
    reasoning_style: 'thinking-type',
    reasoning_replay: 'reasoning_content',
    reasoning_replay_required: true,
    think_tags: 'none',
    audio: 'none',
  },
  homepage: 'https://platform.moonshot.ai',
}
