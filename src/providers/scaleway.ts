import type { Provider } from '../core/provider.ts'
import { ALWAYS_REASONING } from './shared/gpt.ts'

export const scaleway: Provider = {
  slug: 'scaleway',
  name: 'Scaleway',
  env: { apiKey: ['SCALEWAY_API_KEY', 'SCW_SECRET_KEY'] },
  baseUrl: 'https://api.scaleway.ai/v1',
  dialect: 'openai-chat',
  options: { reasoning_style: 'effort', models: ALWAYS_REASONING },
  homepage: 'https://www.scaleway.com/en/generative-apis/',
  statusPage: 'https://status.scaleway.com',
  privacyPolicy: 'https://www.scaleway.com/en/privacy-policy/',
}
