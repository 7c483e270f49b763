import type { Provider } from '../core/provider.ts'
import { ALWAYS_REASONING } from './shared/gpt.ts'

export const aihubmix: Provider = {
  slug: 'aihubmix',
  name: 'AIHubMix',
  env: { apiKey: ['AIHUBMIX_API_KEY'] },
  baseUrl: 'https://aihubmix.com/v1',
  dialect: 'openai-chat',
  options: { reasoning_style: 'effort', models: ALWAYS_REASONING },
  homepage: 'https://docs.aihubmix.com',
}
