import type { Provider } from '../core/provider.ts'
import { ALWAYS_REASONING } from './shared/gpt.ts'

export const sglang: Provider = {
  slug: 'sglang',
  name: 'SGLang',
  env: { apiKey: ['SGLANG_API_KEY'], baseUrl: ['SGLANG_BASE_URL'] },
  baseUrl: 'http://127.0.0.1:30000/v1',
  dialect: 'openai-chat',
  options: { reasoning_style: 'template-kwargs', models: ALWAYS_REASONING, reasoning_replay: 'reasoning_content', inline_images: true },
  keyless: true,
  policies: { dataCollection: 'deny', zdr: true },
  homepage: 'https://docs.sglang.ai',
}
