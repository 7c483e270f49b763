import type { Provider } from '../core/provider.ts'

/** The Llama API, through its compatibility endpoint. */
export const metaLlama: Provider = {
  slug: 'meta-llama',
  name: 'Meta',
  env: { apiKey: ['LLAMA_API_KEY'] },
  baseUrl: 'https://api.llama.com/compat/v1',
  dialect: 'openai-chat',
  options: { max_tokens_field: 'max_completion_tokens', audio: 'none' },
  homepage: 'https://llama.developer.meta.com',
}
