import type { Provider } from '../core/provider.ts'
import { signWithHeader } from './shared/sign.ts'

export const anthropic: Provider = {
  slug: 'anthropic',
  name: 'Anthropic',
  env: { apiKey: ['ANTHROPIC_API_KEY'] },
  baseUrl: 'https://api.anthropic.com/v1',
  dialect: 'anthropic-messages',
  headers: { 'anthropic-version': '2023-06-01' },
  homepage: 'https://www.anthropic.com',
  statusPage: 'https://status.anthropic.com',
  privacyPolicy: 'https://www.anthropic.com/legal/privacy',
  termsOfService: 'https://www.anthropic.com/legal/commercial-terms',
  connect: () => ({ sign: signWithHeader('x-api-key') }),
}
