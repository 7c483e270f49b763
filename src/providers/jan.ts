import type { Provider } from '../core/provider.ts'

export const jan: Provider = {
  slug: 'jan',
  name: 'Jan',
  env: { apiKey: ['JAN_API_KEY'], baseUrl: ['JAN_BASE_URL'] },
  baseUrl: 'http://127.0.0.1:1337/v1',
  dialect: 'openai-chat',
  // An object in `tool_choice` is ignored. "Failed to initialize samplers: failed to parse grammar"
  options: { named_tool_choice: false, tool_bounds: 'described', inline_images: true },
  keyless: true,
  policies: { dataCollection: 'deny', zdr: true },
  homepage: 'https://jan.ai',
}
