import type { Provider } from '../core/provider.ts'
import { ALWAYS_REASONING } from './shared/gpt.ts'

export const deepinfra: Provider = {
  slug: 'deepinfra',
  name: 'DeepInfra',
  env: { apiKey: ['DEEPINFRA_API_KEY', 'DEEPINFRA_TOKEN'] },
  baseUrl: 'https://api.deepinfra.com/v1/openai',
  dialect: 'openai-chat',
  options: { reasoning_style: 'effort', models: ALWAYS_REASONING },
  homepage: 'https://deepinfra.com',
  statusPage: 'https://status.deepinfra.com',
  privacyPolicy: 'https://deepinfra.com/privacy',
  termsOfService: 'https://deepinfra.com/terms',
}
