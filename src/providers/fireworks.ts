import type { Provider } from '../core/provider.ts'
import { ALWAYS_REASONING } from './shared/gpt.ts'

/**
 * Models that accept more than three efforts, or others. `none` switches off most models that reason by default, and is refused by models that do not
 * reason.
 */
const MODELS = [
  ...ALWAYS_REASONING,
  { match: 'glm-5p[3-9]', reasoning_efforts: ['low', 'high', 'max'] },
  { match: 'deepseek-v(?:3p[1-9]|4)|glm-(?:4p[5-9]|5)', reasoning_efforts: ['none', 'low', 'medium', 'high', 'xhigh', 'max'] },
]

export const fireworks: Provider = {
  slug: 'fireworks',
  name: 'Fireworks',
  env: { apiKey: ['FIREWORKS_API_KEY', 'FIREWORKS_AI_API_KEY'] },
  baseUrl: 'https://api.fireworks.ai/inference/v1',
  dialect: 'openai-chat',
  options: {
    reasoning_style: 'effort',
    models: MODELS,
    reasoning_replay: 'reasoning_content',
    forward: ['user', 'prompt_cache_key', 'service_tier'],
    // https://docs.fireworks.ai/serverless/serverless-modes: faster modes have separate model ids.
    service_tiers: ['priority'],
  },
  homepage: 'https://fireworks.ai',
  statusPage: 'https://status.fireworks.ai',
  privacyPolicy: 'https://fireworks.ai/privacy-policy',
  termsOfService: 'https://fireworks.ai/terms-of-service',
}
