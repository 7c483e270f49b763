import type { Provider } from '../core/provider.ts'

export const xai: Provider = {
  slug: 'xai',
  name: 'xAI',
  env: { apiKey: ['XAI_API_KEY'] },
  baseUrl: 'https://api.x.ai/v1',
  dialect: 'openai-responses',
  options: {
    // Both penalties are refused even when they are 0.
    penalties: false,
    verbosities: [],
    promptCacheOptions: false,
    metadata: false,
    serviceTier: false,
    safetyIdentifier: false,
    unknownFields: 'drop',
    reasoningEfforts: ['low', 'medium', 'high'],
    reasoningSummary: false,
    reasoningFormat: 'xai-responses-v1',
    customTools: false,
    namespaceTools: false,
    builtinTools: ['web_search', 'x_search', 'code_interpreter', 'file_search', 'mcp'],
    allowedTools: false,
    inputParts: ['input_text', 'input_image', 'input_file'],
    phase: false,
  },
  priceProvider: 'x-ai',
  models: { author: 'x-ai', exclude: /voice/ },
  homepage: 'https://x.ai',
  statusPage: 'https://status.x.ai',
  privacyPolicy: 'https://x.ai/legal/privacy-policy',
  termsOfService: 'https://x.ai/legal/terms-of-service-enterprise',
}
