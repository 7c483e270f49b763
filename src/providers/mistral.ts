import type { Provider } from '../core/provider.ts'

/** Small reasons since 4 (March 2026), Medium since 3.5 (April 2026); older and other models refuse the field. */
const REASONS = [
  '^(?:magistral|mistral-vibe)',
  '^mistral-(?:small|medium)(?:-latest)?$',
  '^mistral-(?:small-[4-9]|medium-(?:3[.-]5|[4-9]))(?!\\d)',
  '^mistral-(?:small|medium)-(?:26(?:0[3-9]|1\\d)|(?:2[7-9]|[3-9]\\d)\\d\\d)$',
].join('|')

export const mistral: Provider = {
  slug: 'mistral',
  name: 'Mistral',
  env: { apiKey: ['MISTRAL_API_KEY'] },
  baseUrl: 'https://api.mistral.ai/v1',
  dialect: 'openai-chat',
  options: {
    // "Unexpected role 'system' after role 'assistant'", and after 'tool'; nor may it be the last.
    system_role: 'first-only',
    prefill_field: 'prefix',
    // "Unexpected role 'user' after role 'tool'"
    user_after_tool_filler: '.',
    field_names: { seed: 'random_seed' },
    max_temperature: 1.5,
    forward: ['prompt_cache_key'],
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
  models: { author: 'mistralai', exclude: /:free$|ocr|embed/ },
  homepage: 'https://mistral.ai',
  statusPage: 'https://status.mistral.ai',
  privacyPolicy: 'https://mistral.ai/terms#privacy-policy',
  termsOfService: 'https://mistral.ai/terms',
}
