import type { Provider } from '../core/provider.ts'
import { ALWAYS_REASONING } from './shared/gpt.ts'

export const fireworks: Provider = {
  slug: 'fireworks',
  name: 'Fireworks',
  env: { apiKey: ['FIREWORKS_API_KEY', 'FIREWORKS_AI_API_KEY'] },
  baseUrl: 'https://api.fireworks.ai/inference/v1',
  dialect: 'openai-chat',
  options: { reasoning_style: 'effort', models: ALWAYS_REASONING, reasoning_replay: 'reasoning_content', forward: ['user', 'prompt_cache_key'] },
  homepage: 'https://fireworks.ai',
  statusPage: 'https://status.fireworks.ai',
  privacyPolicy: 'https://fireworks.ai/privacy-policy',
  termsOfService: 'https://fireworks.ai/terms-of-service',
}
