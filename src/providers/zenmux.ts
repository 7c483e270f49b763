import type { Provider } from '../core/provider.ts'
import { ALWAYS_REASONING } from './shared/gpt.ts'

export const zenmux: Provider = {
  slug: 'zenmux',
  name: 'ZenMux',
  env: { apiKey: ['ZENMUX_API_KEY'] },
  baseUrl: 'https://zenmux.ai/api/v1',
  dialect: 'openai-chat',
  options: { reasoning_style: 'effort', models: ALWAYS_REASONING },
  homepage: 'https://zenmux.ai',
}
