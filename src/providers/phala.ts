import type { Provider } from '../core/provider.ts'

/** Confidential inference, offered under the name RedPill. */
export const phala: Provider = {
  slug: 'phala',
  name: 'Phala',
  env: { apiKey: ['REDPILL_API_KEY'] },
  baseUrl: 'https://api.redpill.ai/v1',
  dialect: 'openai-chat',
  homepage: 'https://redpill.ai',
}
