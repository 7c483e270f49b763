import type { Provider } from '../core/provider.ts'
import { ALWAYS_REASONING } from './shared/gpt.ts'

export const cerebras: Provider = {
  slug: 'cerebras',
  name: 'Cerebras',
  env: { apiKey: ['CEREBRAS_API_KEY'] },
  baseUrl: 'https://api.cerebras.ai/v1',
  dialect: 'openai-chat',
  options: {
    max_tokens_field: 'max_completion_tokens',
    reasoning_style: 'effort',
    // `none` switches off what can be; the others always think.
    models: [...ALWAYS_REASONING, { match: '.', reasoning_efforts: ['none', 'low', 'medium', 'high'] }],
    reasoning_replay: 'reasoning',
    forward: ['user', 'prompt_cache_key', 'service_tier'],
    service_tiers: ['auto', 'default', 'flex', 'priority'],
    // https://inference-docs.cerebras.ai/capabilities/image-inputs
    inline_images: true,
    audio: 'none',
  },
  // Errors, each of them, whatever the value.
  models: { unsupported: ['frequency_penalty', 'presence_penalty', 'logit_bias'] },
  homepage: 'https://www.cerebras.ai',
  privacyPolicy: 'https://www.cerebras.ai/privacy-policy',
}
