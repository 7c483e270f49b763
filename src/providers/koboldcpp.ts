import type { Provider } from '../core/provider.ts'

export const koboldcpp: Provider = {
  slug: 'koboldcpp',
  name: 'KoboldCpp',
  env: { baseUrl: ['KOBOLDCPP_BASE_URL'] },
  baseUrl: 'http://127.0.0.1:5001/v1',
  dialect: 'openai-chat',
  options: { inline_images: true },
  keyless: true,
  policies: { dataCollection: 'deny', zdr: true },
  homepage: 'https://github.com/LostRuins/koboldcpp',
}
