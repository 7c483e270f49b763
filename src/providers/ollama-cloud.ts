import type { Provider } from '../core/provider.ts'
import { OLLAMA_OPTIONS } from './shared/regional-options.ts'

export const ollamaCloud: Provider = {
  slug: 'ollama-cloud',
  name: 'Ollama Cloud',
  env: { apiKey: ['OLLAMA_API_KEY'] },
  baseUrl: 'https://ollama.com/v1',
  dialect: 'openai-chat',
  options: OLLAMA_OPTIONS,
  homepage: 'https://docs.ollama.com/cloud',
  privacyPolicy: 'https://ollama.com/privacy',
}
