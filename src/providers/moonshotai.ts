import type { Provider } from '../core/provider.ts'
import { KIMI_OPTIONS } from './shared/regional-options.ts'

export const moonshotai: Provider = {
  slug: 'moonshotai',
  name: 'Moonshot AI',
  env: { apiKey: ['MOONSHOT_API_KEY'] },
  baseUrl: 'https://api.moonshot.ai/v1',
  dialect: 'openai-chat',
  options: KIMI_OPTIONS,
  homepage: 'https://platform.moonshot.ai',
}
