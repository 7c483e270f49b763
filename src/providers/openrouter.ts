import type { Provider } from '../core/provider.ts'

export const openrouter: Provider = {
  slug: 'openrouter',
  name: 'OpenRouter',
  env: { apiKey: ['OPENROUTER_API_KEY'] },
  baseUrl: 'https://openrouter.ai/api/v1',
  dialect: 'openai-chat',
  options: {
    system_role: 'system',
    max_tokens_field: 'max_completion_tokens',
    strict_tools: true,
    forward: ['user', 'prompt_cache_key', 'service_tier'],
    reasoning_style: 'reasoning-object',
    reasoning_replay: 'reasoning_details',
    reasoning_replay_turns: 'all',
    think_tags: 'none',
    file: 'file',
    file_urls: true,
    video: 'video_url',
    cache_breakpoints: true,
    image_output: true,
    web_search: 'plugin',
    // Cost and cached tokens are reported only on request.
    extra_body: { usage: { include: true } },
    finish_reasons: { error: 'error' },
  },
  dialectOptions: {
    // It is a router, so its items contain the formats of several vendors.
    'openai-responses': {
      reasoning_budget: true,
      replay_formats: 'any',
      reasoning_text: true,
      custom_tools: false,
      namespace_tools: false,
      async_calls: false,
      builtin_tools: ['web_search'],
      search_exclusions: 'excluded_domains',
      search_bounds: true,
      allowed_tools: false,
      input_parts: ['input_text', 'input_image', 'input_file', 'input_audio', 'input_video'],
      image_output: true,
      unknown_fields: 'drop',
      phase: false,
    },
  },
  // The price data also list names that only occur in answers, batch prices and floating names. None of them can be requested as a model here.
  models: { supported: ['parallel_tool_calls'], exclude: /^[^/]*$|^~|:batch$/ },
  homepage: 'https://openrouter.ai',
  statusPage: 'https://status.openrouter.ai',
  privacyPolicy: 'https://openrouter.ai/privacy',
  termsOfService: 'https://openrouter.ai/terms',
}
