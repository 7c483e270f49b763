import type { Provider } from '../core/provider.ts'

type Rules = { readonly match: string; readonly reasoning_efforts: readonly string[] }

const LOW_TO_HIGH = ['low', 'medium', 'high']

/** Efforts by model: many models reason without one and refuse a request that states it. */
const GROK_MODELS: readonly Rules[] = [
  { match: 'grok-3-mini', reasoning_efforts: ['low', 'high'] },
  // The effort sets the number of agents that reason.
  { match: 'grok-4[.-]20-multi-agent', reasoning_efforts: [...LOW_TO_HIGH, 'xhigh'] },
  { match: 'grok-(?:[123](?!\\d)|4-(?:0709|fast)|4[.-](?:1|20)(?!\\d)|beta|vision|code|build|composer)', reasoning_efforts: [] },
  // The name without a version refers to this model.
  { match: 'grok-4(?:[.-]3(?!\\d)|(?:-latest)?$)', reasoning_efforts: ['none', ...LOW_TO_HIGH] },
  { match: 'grok-4[.-][67](?!\\d)', reasoning_efforts: [...LOW_TO_HIGH, 'xhigh'] },
  { match: 'grok', reasoning_efforts: LOW_TO_HIGH },
]

const TIERS = ['default', 'priority']

/** Parameters that models without reasoning accept and the others refuse. */
const THINKING_REFUSES = ['presence_penalty', 'frequency_penalty', 'stop'] as const

export const xai: Provider = {
  slug: 'xai',
  name: 'xAI',
  env: { apiKey: ['XAI_API_KEY'] },
  baseUrl: 'https://api.x.ai/v1',
  dialect: 'openai-responses',
  options: {
    // Both penalties are refused even if they are 0.
    penalties: false,
    verbosities: [],
    prompt_cache_options: false,
    metadata: false,
    // https://docs.x.ai/developers/advanced-api-usage/priority-processing
    service_tiers: TIERS,
    safety_identifier: false,
    unknown_fields: 'drop',
    models: GROK_MODELS,
    reasoning_summary: false,
    reasoning_format: 'xai-responses-v1',
    custom_tools: false,
    namespace_tools: false,
    async_calls: false,
    builtin_tools: ['web_search', 'x_search', 'code_interpreter', 'file_search', 'mcp'],
    search_exclusions: 'excluded_domains',
    allowed_tools: false,
    optional_members: 'taken',
    input_parts: ['input_text', 'input_image', 'input_file'],
    phase: false,
  },
  dialectOptions: {
    'openai-chat': {
      system_role: 'system',
      max_tokens_field: 'max_completion_tokens',
      strict_tools: true,
      models: [
        { match: 'non-reasoning|grok-(?:[12]|3(?!-mini))(?!\\d)|grok-(?:beta|vision)', reasoning_style: 'none' },
        ...GROK_MODELS.map((rule) => ({
          ...rule,
          reasoning_style: rule.reasoning_efforts.length === 0 ? 'none' : 'effort',
          refused: THINKING_REFUSES,
        })),
      ],
      forward: ['user', 'service_tier'],
      service_tiers: TIERS,
      think_tags: 'none',
      audio: 'none',
      usage: { output_excludes_reasoning: true },
    },
  },
  priceProvider: 'x-ai',
  models: { author: 'x-ai', exclude: /voice/ },
  homepage: 'https://x.ai',
  statusPage: 'https://status.x.ai',
  privacyPolicy: 'https://x.ai/legal/privacy-policy',
  termsOfService: 'https://x.ai/legal/terms-of-service-enterprise',
}
