import type { Provider } from '../core/provider.ts'
import { ALWAYS_REASONING } from './shared/gpt.ts'

export const baseten: Provider = {
  slug: 'baseten',
  name: 'BaseTen',
  env: { apiKey: ['BASETEN_API_KEY'] },
  baseUrl: 'https://inference.baseten.co/v1',
  dialect: 'openai-chat',
  options: { reasoning_style: 'effort', models: ALWAYS_REASONING },
  homepage: 'https://www.baseten.co',
  statusPage: 'https://status.baseten.co',
  privacyPolicy: 'https://www.baseten.co/privacy-policy/',
}
