import type { Provider } from '../core/provider.ts'

/** The Chinese platform: other keys and prices than the international one, under the same variable, so it is switched on in the configuration. */
export const moonshotaiCn: Provider = {
  slug: 'moonshotai-cn',
  name: 'Moonshot AI (China)',
  env: {},
  baseUrl: 'https://api.moonshot.cn/v1',
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
  priceProvider: 'moonshotai',
  models: { author: 'moonshotai' },
  homepage: 'https://platform.moonshot.cn',
}
