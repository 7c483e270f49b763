import type { Provider } from '../core/provider.ts'
import { ALWAYS_REASONING } from './shared/gpt.ts'

export const nanoGpt: Provider = {
  slug: 'nano-gpt',
  name: 'NanoGPT',
  env: { apiKey: ['NANO_GPT_API_KEY', 'NANOGPT_API_KEY'] },
  baseUrl: 'https://nano-gpt.com/api/v1',
  dialect: 'openai-chat',
  options: { reasoning_style: 'effort', models: ALWAYS_REASONING },
  homepage: 'https://nano-gpt.com',
}
