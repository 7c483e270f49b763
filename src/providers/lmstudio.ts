import type { Provider } from '../core/provider.ts'
import { ALWAYS_REASONING } from './shared/gpt.ts'
import { LOCAL_RESPONSES } from './shared/partial-responses.ts'

export const lmstudio: Provider = {
  slug: 'lmstudio',
  name: 'LM Studio',
  env: { apiKey: ['LMSTUDIO_API_KEY', 'LM_STUDIO_API_KEY'], baseUrl: ['LMSTUDIO_BASE_URL', 'LM_STUDIO_API_BASE'] },
  baseUrl: 'http://127.0.0.1:1234/v1',
  dialect: 'openai-chat',
  options: {
    reasoning_style: 'effort',
    models: ALWAYS_REASONING,
    // "Invalid tool_choice type: 'object'"
    named_tool_choice: false,
    // "'response_format.type' must be 'json_schema' or 'text'"
    json_object: 'schema',
    inline_images: true,
    audio: 'none',
  },
  dialectOptions: { 'openai-responses': LOCAL_RESPONSES },
  keyless: true,
  policies: { dataCollection: 'deny', zdr: true },
  homepage: 'https://lmstudio.ai',
}
