import type { Provider } from '../core/provider.ts'

export const tinfoil: Provider = {
  slug: 'tinfoil',
  name: 'Tinfoil',
  env: { apiKey: ['TINFOIL_API_KEY'] },
  baseUrl: 'https://inference.tinfoil.sh/v1',
  dialect: 'openai-chat',
  homepage: 'https://tinfoil.sh',
}
