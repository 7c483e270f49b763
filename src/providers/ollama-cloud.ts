import type { Provider } from '../core/provider.ts'

export const ollamaCloud: Provider = {
  slug: 'ollama-cloud',
  name: 'Ollama Cloud',
  env: { apiKey: ['OLLAMA_API_KEY'] },
  baseUrl: 'https://ollama.com/v1',
  dialect: 'openai-chat',
  options: {
    system_role: 'system',
    reasoning_style: 'effort',
    reasoning_efforts: ['none', 'low', 'medium', 'high'],
    image_detail: false,
    inline_images: true,
    audio: 'none',
  },
  homepage: 'https://docs.ollama.com/cloud',
  privacyPolicy: 'https://ollama.com/privacy',
}
