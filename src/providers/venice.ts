import type { Provider } from '../core/provider.ts'
import { ALWAYS_REASONING } from './shared/gpt.ts'

export const venice: Provider = {
  slug: 'venice',
  name: 'Venice',
  env: { apiKey: ['VENICE_API_KEY', 'VENICE_AI_API_KEY'] },
  baseUrl: 'https://api.venice.ai/api/v1',
  dialect: 'openai-chat',
  options: { reasoning_style: 'effort', models: ALWAYS_REASONING },
  homepage: 'https://venice.ai',
  privacyPolicy: 'https://venice.ai/legal/privacy-policy',
}
