import type { Provider } from '../core/provider.ts'
import { ALWAYS_REASONING } from './shared/gpt.ts'

/** Models that reason unless it is switched off, and accept no effort. */
const HYBRID = 'DeepSeek-V(?:3\\.[1-9]|4)|GLM-(?:4\\.[5-9]|5(?!\\.[3-9]))|Kimi-K2\\.[56](?!\\d)|Qwen3\\.[5-9](?!\\d)|cogito-v2'

export const together: Provider = {
  slug: 'together',
  name: 'Together',
  env: { apiKey: ['TOGETHER_API_KEY', 'TOGETHER_AI_API_KEY'] },
  baseUrl: 'https://api.together.xyz/v1',
  dialect: 'openai-chat',
  options: {
    reasoning_style: 'effort',
    models: [...ALWAYS_REASONING, { match: HYBRID, off: 'reasoning-object' }],
    reasoning_replay: 'reasoning',
  },
  // "Unrecognized request arguments supplied: user"
  dialectOptions: { 'openai-embeddings': { user: false } },
  homepage: 'https://www.together.ai',
  statusPage: 'https://status.together.ai',
  privacyPolicy: 'https://www.together.ai/privacy',
  termsOfService: 'https://www.together.ai/terms-of-service',
}
