import type { Provider } from '../core/provider.ts'

export const openrouter: Provider = {
  slug: 'openrouter',
  name: 'OpenRouter',
  env: { apiKey: ['OPENROUTER_API_KEY'] },
  baseUrl: 'https://openrouter.ai/api/v1',
  dialect: 'openai-chat',
  options: {
    system_role: 'system',
    strict_tools: true,
    forward: ['user', 'prompt_cache_key'],
    reasoning_style: 'reasoning-object',
    reasoning_replay: 'reasoning_details',
    reasoning_replay_turns: 'all',
    think_tags: 'none',
    file: 'file',
    file_urls: true,
    video: 'video_url',
    cache_breakpoints: true,
    // Cost and cached tokens come only when asked for.
    extra_body: { usage: { include: true } },
    finish_reasons: { error: 'error' },
  },
  // The price data also lists names answers come back under, batch prices and floating names: none of them can be asked for as a model here.
  models: { exclude: /^[^/]*$|^~|:batch$/ },
  homepage: 'https://openrouter.ai',
  statusPage: 'https://status.openrouter.ai',
  privacyPolicy: 'https://openrouter.ai/privacy',
  termsOfService: 'https://openrouter.ai/terms',
}
