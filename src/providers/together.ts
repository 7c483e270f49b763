import type { Provider } from '../core/provider.ts'
import { ALWAYS_REASONING } from './shared/gpt.ts'

export const together: Provider = {
  slug: 'together',
  name: 'Together',
  env: { apiKey: ['TOGETHER_API_KEY', 'TOGETHER_AI_API_KEY'] },
  baseUrl: 'https://api.together.xyz/v1',
  dialect: 'openai-chat',
  options: { reasoning_style: 'effort', models: ALWAYS_REASONING },
  homepage: 'https://www.together.ai',
  statusPage: 'https://status.together.ai',
  privacyPolicy: 'https://www.together.ai/privacy',
  termsOfService: 'https://www.together.ai/terms-of-service',
}
