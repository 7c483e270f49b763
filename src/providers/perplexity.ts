import type { Provider } from '../core/provider.ts'

export const perplexity: Provider = {
  slug: 'perplexity',
  name: 'Perplexity',
  env: { apiKey: ['PERPLEXITY_API_KEY'] },
  baseUrl: 'https://api.perplexity.ai',
  dialect: 'openai-chat',
  options: {
    alternating_roles: true,
    stream_usage: false,
    // "ResponseFormatJSONSchema -> type: Input should be 'json_schema'"
    json_object: 'schema',
    reasoning_style: 'effort',
    models: [{ match: 'reasoning|deep-research' }],
    audio: 'none',
    web_search: 'options',
  },
  models: {
    exclude: /^llama|^r1/,
    unsupported: ['tools', 'tool_choice', 'parallel_tool_calls', 'stop', 'seed', 'logprobs', 'top_logprobs', 'logit_bias'],
  },
  homepage: 'https://www.perplexity.ai',
  statusPage: 'https://status.perplexity.com',
  privacyPolicy: 'https://www.perplexity.ai/hub/legal/privacy-policy',
}
