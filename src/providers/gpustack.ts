import type { Provider } from '../core/provider.ts'

export const gpustack: Provider = {
  slug: 'gpustack',
  name: 'GPUStack',
  env: { apiKey: ['GPUSTACK_API_KEY'], baseUrl: ['GPUSTACK_BASE_URL'] },
  baseUrl: 'http://127.0.0.1/v1',
  dialect: 'openai-chat',
  options: { inline_images: true },
  keyless: true,
  policies: { dataCollection: 'deny', zdr: true },
  homepage: 'https://gpustack.ai',
}
