import type { Provider } from '../core/provider.ts'

export const sambanova: Provider = {
  slug: 'sambanova',
  name: 'SambaNova',
  env: { apiKey: ['SAMBANOVA_API_KEY'] },
  baseUrl: 'https://api.sambanova.ai/v1',
  dialect: 'openai-chat',
  // "Ensure the image is base64-encoded", https://docs.sambanova.ai/cloud/api-reference/endpoints/vision-endpoint
  options: { inline_images: true },
  homepage: 'https://sambanova.ai',
  privacyPolicy: 'https://sambanova.ai/privacy-policy',
}
