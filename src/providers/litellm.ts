import type { Provider } from '../core/provider.ts'
import { ALWAYS_REASONING } from './shared/gpt.ts'

/** A proxy. It decides where prompts go from there, so no policy is claimed. */
export const litellm: Provider = {
  slug: 'litellm',
  name: 'LiteLLM Proxy',
  env: { apiKey: ['LITELLM_PROXY_API_KEY'], baseUrl: ['LITELLM_PROXY_API_BASE', 'LITELLM_BASE_URL'] },
  baseUrl: 'http://127.0.0.1:4000/v1',
  dialect: 'openai-chat',
  options: {
    system_role: 'system',
    strict_tools: true,
    forward: ['user'],
    reasoning_style: 'effort',
    models: ALWAYS_REASONING,
    file: 'file',
    // LiteLLM removes them for models that do not support them.
    cache_breakpoints: true,
    // Gemini's signatures of calls.
    tool_extra: 'provider_specific_fields',
  },
  keyless: true,
  homepage: 'https://docs.litellm.ai',
}
