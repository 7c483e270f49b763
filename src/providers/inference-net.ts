import type { Provider } from '../core/provider.ts'

export const inferenceNet: Provider = {
  slug: 'inference-net',
  name: 'InferenceNet',
  env: { apiKey: ['INFERENCE_API_KEY'] },
  baseUrl: 'https://api.inference.net/v1',
  dialect: 'openai-chat',
  homepage: 'https://inference.net',
}
