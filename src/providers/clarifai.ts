import type { Provider } from '../core/provider.ts'

export const clarifai: Provider = {
  slug: 'clarifai',
  name: 'Clarifai',
  env: { apiKey: ['CLARIFAI_PAT'] },
  baseUrl: 'https://api.clarifai.com/v2/ext/openai/v1',
  dialect: 'openai-chat',
  homepage: 'https://www.clarifai.com',
  privacyPolicy: 'https://www.clarifai.com/privacy-policy',
}
