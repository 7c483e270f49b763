import type { Provider } from '../core/provider.ts'
import { ALWAYS_REASONING } from './shared/gpt.ts'
import { LOCAL_RESPONSES } from './shared/partial-responses.ts'

export const llamacpp: Provider = {
  slug: 'llamacpp',
  name: 'llama.cpp',
  env: { apiKey: ['LLAMACPP_API_KEY'], baseUrl: ['LLAMACPP_BASE_URL', 'LLAMA_CPP_BASE_URL'] },
  baseUrl: 'http://127.0.0.1:8080/v1',
  dialect: 'openai-chat',
  // An object in `tool_choice` is ignored. "Failed to initialize samplers: failed to parse grammar"
  options: {
    reasoning_style: 'template-kwargs',
    models: ALWAYS_REASONING,
    reasoning_replay: 'reasoning_content',
    named_tool_choice: false,
    tool_bounds: 'described',
    inline_images: true,
  },
  dialectOptions: { 'openai-responses': LOCAL_RESPONSES },
  keyless: true,
  policies: { dataCollection: 'deny', zdr: true },
  homepage: 'https://github.com/ggml-org/llama.cpp',
}
