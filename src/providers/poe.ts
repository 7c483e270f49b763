import type { Provider } from '../core/provider.ts'
import { ALWAYS_REASONING } from './shared/gpt.ts'

export const poe: Provider = {
  slug: 'poe',
  name: 'Poe',
  env: { apiKey: ['POE_API_KEY'] },
  baseUrl: 'https://api.poe.com/v1',
  dialect: 'openai-chat',
  options: { reasoning_style: 'effort', models: ALWAYS_REASONING },
  homepage: 'https://poe.com',
}
