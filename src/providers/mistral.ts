import type { Provider } from '../core/provider.ts'

/** Small models reason since 4 (March 2026), Medium ones since 3.5 (April 2026). Older and other models refuse the field. */
const REASONS = [
  '^(?:magistral|mistral-vibe)',
  '^mistral-(?:small|medium)(?:-latest)?$',
  '^mistral-(?:small-[4-9]|medium-(?:3[.-]5|[4-9]))(?!\\d)',
  '^mistral-(?:small|medium)-(?:26(?:0[3-9]|1\\d)|(?:2[7-9]|[3-9]\\d)\\d\\d)$',
].join('|')

/** https://docs.mistral.ai/getting-started/models: most models have a dated id and one that ends in `latest`. */
const IDS = {
  'magistral-medium': 'magistral-medium-latest',
  'ministral-3b': 'ministral-3b-latest',
  'ministral-8b': 'ministral-8b-latest',
  'mistral-7b': 'open-mistral-7b',
  'mistral-large': 'mistral-large-latest',
  'mistral-nemo': 'open-mistral-nemo',
  'mistral-saba': 'mistral-saba-latest',
  'mistral-small-24b-instruct-2501': 'mistral-small-2501',
  'mistral-small-3.1-24b-instruct': 'mistral-small-2503',
  'mistral-small-3.2-24b-instruct': 'mistral-small-2506',
  'mixtral-8x22b-instruct': 'open-mixtral-8x22b',
  'mixtral-8x7b': 'open-mixtral-8x7b',
  'pixtral-12b': 'pixtral-12b-latest',
  'voxtral-small-24b-2507': 'voxtral-small-2507',
}

export const mistral: Provider = {
  slug: 'mistral',
  name: 'Mistral',
  env: { apiKey: ['MISTRAL_API_KEY'] },
  baseUrl: 'https://api.mistral.ai/v1',
  dialect: 'openai-chat',
  options: {
    // "Unexpected role 'system' after role 'assistant'", and after 'tool'. A system message may not be the last one either.
    system_role: 'first-only',
    prefill_field: 'prefix',
    // "Unexpected role 'user' after role 'tool'"
    user_after_tool_filler: '.',
    field_names: { seed: 'random_seed' },
    max_temperature: 1.5,
    forward: ['prompt_cache_key', 'service_tier'],
    // Priority is capacity bought in advance, used unless a request says otherwise. https://docs.mistral.ai/inference/priority-tier
    service_tiers: ['default', 'priority'],
    tier_names: { default: 'standard_only', priority: 'auto' },
    pass_through: ['safe_prompt'],
    stream_usage: false,
    tool_ids: { pattern: '^[a-zA-Z0-9]+$', max: 9, length: 9 },
    required_word: 'any',
    tool_result_name: true,
    models: [{ match: REASONS, reasoning_style: 'effort', reasoning_efforts: ['none', 'high'] }],
    reasoning_replay: 'thinking-part',
    think_tags: 'none',
    file: 'document_url',
    file_urls: true,
    usage: { input_from_total: true },
    finish_reasons: { model_length: 'length' },
  },
  // "Extra inputs are not permitted", and "Too many tokens in batch. Max is 16384". https://docs.mistral.ai/api/endpoint/embeddings
  dialectOptions: { 'openai-embeddings': { dimensions_field: 'output_dimension', user: false, most_tokens: 16_384 } },
  models: { author: 'mistralai', supported: ['parallel_tool_calls'], ids: IDS, exclude: /:free$|ocr/ },
  homepage: 'https://mistral.ai',
  statusPage: 'https://status.mistral.ai',
  privacyPolicy: 'https://mistral.ai/terms#privacy-policy',
  termsOfService: 'https://mistral.ai/terms',
}
