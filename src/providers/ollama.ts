import type { Provider } from '../core/provider.ts'
import { OLLAMA_OPTIONS } from './shared/regional-options.ts'
import { LOCAL_RESPONSES } from './shared/partial-responses.ts'

export const ollama: Provider = {
  slug: 'ollama',
  name: 'Ollama',
  env: { baseUrl: ['OLLAMA_BASE_URL', 'OLLAMA_HOST'] },
  baseUrl: 'http://127.0.0.1:11434/v1',
  dialect: 'openai-chat',
  options: OLLAMA_OPTIONS,
  dialectOptions: { 'openai-responses': LOCAL_RESPONSES },
  keyless: true,
  policies: { dataCollection: 'deny', zdr: true },
  homepage: 'https://ollama.com',
}
