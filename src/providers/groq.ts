import type { Provider } from '../core/provider.ts'
import { PARTIAL_RESPONSES } from './shared/partial-responses.ts'

export const groq: Provider = {
  slug: 'groq',
  name: 'Groq',
  env: { apiKey: ['GROQ_API_KEY'] },
  baseUrl: 'https://api.groq.com/openai/v1',
  dialect: 'openai-chat',
  options: {
    system_role: 'system',
    max_tokens_field: 'max_completion_tokens',
    max_stop_sequences: 4,
    optional_members: 'refused',
    // Of the hosted models only these accept an effort. The others refuse the field, and also reasoning of earlier turns. Qwen can only be told not
    // to reason.
    models: [
      { match: 'gpt-oss', reasoning_style: 'effort', reasoning_replay: 'reasoning' },
      { match: 'qwen3', reasoning_style: 'effort', reasoning_efforts: ['none'], reasoning_replay: 'reasoning', json_schema: 'json-object' },
      // All models write JSON, but only some follow a schema.
      { match: 'llama-?3', json_schema: 'json-object' },
    ],
    forward: ['user', 'service_tier'],
    service_tiers: ['auto', 'default', 'flex', 'priority'],
    tier_names: { default: 'on_demand', priority: 'performance' },
    formats_with_tools: false,
    streamed_schemas: false,
    audio: 'none',
  },
  dialectOptions: { 'openai-responses': PARTIAL_RESPONSES },
  models: { supported: ['parallel_tool_calls'] },
  homepage: 'https://groq.com',
  statusPage: 'https://groqstatus.com',
  privacyPolicy: 'https://groq.com/privacy-policy/',
  termsOfService: 'https://groq.com/terms-of-use/',
}
