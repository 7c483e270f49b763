import type { Provider } from '../core/provider.ts'
import { ALWAYS_REASONING } from './shared/gpt.ts'

export const requesty: Provider = {
  slug: 'requesty',
  name: 'Requesty',
  env: { apiKey: ['REQUESTY_API_KEY'] },
  baseUrl: 'https://router.requesty.ai/v1',
  dialect: 'openai-chat',
  // It turns an empty text into an empty block for Claude: "text content blocks must be non-empty".
  options: { reasoning_style: 'effort', models: ALWAYS_REASONING, empty_content: 'null', cache_breakpoints: true },
  homepage: 'https://requesty.ai',
}
