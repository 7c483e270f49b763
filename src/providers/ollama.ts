import type { Provider } from '../core/provider.ts'

export const ollama: Provider = {
  slug: 'ollama',
  name: 'Ollama',
  env: { baseUrl: ['OLLAMA_BASE_URL', 'OLLAMA_HOST'] },
  baseUrl: 'http://127.0.0.1:11434/v1',
  dialect: 'openai-chat',
  options: {
    system_role: 'system',
    reasoning_style: 'effort',
    reasoning_efforts: ['none', 'low', 'medium', 'high'],
    image_detail: false,
    inline_images: true,
    audio: 'none',
  },
  keyless: true,
  policies: { dataCollection: 'deny', zdr: true },
  homepage: 'https://ollama.com',
}
