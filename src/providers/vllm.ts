import type { Provider } from '../core/provider.ts'
import { ALWAYS_REASONING } from './shared/gpt.ts'
import { LOCAL_RESPONSES } from './shared/partial-responses.ts'

export const vllm: Provider = {
  slug: 'vllm',
  name: 'vLLM',
  env: { apiKey: ['VLLM_API_KEY', 'HOSTED_VLLM_API_KEY'], baseUrl: ['VLLM_BASE_URL', 'HOSTED_VLLM_API_BASE'] },
  baseUrl: 'http://127.0.0.1:8000/v1',
  dialect: 'openai-chat',
  options: { reasoning_style: 'template-kwargs', models: ALWAYS_REASONING, reasoning_replay: 'reasoning', inline_images: true },
  dialectOptions: { 'openai-responses': LOCAL_RESPONSES },
  keyless: true,
  policies: { dataCollection: 'deny', zdr: true },
  homepage: 'https://docs.vllm.ai',
}
