import type { Provider } from '../core/provider.ts'
import { ALWAYS_REASONING } from './shared/gpt.ts'

export const nebius: Provider = {
  slug: 'nebius',
  name: 'Nebius',
  env: { apiKey: ['NEBIUS_API_KEY'] },
  baseUrl: 'https://api.tokenfactory.nebius.com/v1',
  dialect: 'openai-chat',
  options: { reasoning_style: 'effort', models: ALWAYS_REASONING },
  homepage: 'https://nebius.com',
  privacyPolicy: 'https://nebius.com/privacy-policy',
}
