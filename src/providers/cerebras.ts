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
    // `none` switches reasoning off where that is possible; the other models always reason.
    models: [...ALWAYS_REASONING, { match: '.', reasoning_efforts: ['none', 'low', 'medium', 'high'] }],
    reasoning_replay: 'reasoning',
    forward: ['user', 'prompt_cache_key', 'service_tier'],
    service_tiers: ['auto', 'default', 'flex', 'priority'],
    // https://inference-docs.cerebras.ai/capabilities/image-inputs
    inline_images: true,
    audio: 'none',
  },
  // Each of these is an error, whatever its value.
  models: { unsupported: ['frequency_penalty', 'presence_penalty', 'logit_bias'] },
  homepage: 'https://www.cerebras.ai',
  privacyPolicy: 'https://www.cerebras.ai/privacy-policy',
}
