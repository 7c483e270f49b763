import type { Provider } from '../core/provider.ts'

export const ioNet: Provider = {
  slug: 'io-net',
  name: 'Io Net',
  env: { apiKey: ['IOINTELLIGENCE_API_KEY'] },
  baseUrl: 'https://api.intelligence.io.solutions/api/v1',
  dialect: 'openai-chat',
  homepage: 'https://io.net',
}
