import type { Provider } from '../core/provider.ts'
import { signWithHeader } from './shared/sign.ts'

export const googleAiStudio: Provider = {
  slug: 'google-ai-studio',
  name: 'Google AI Studio',
  env: { apiKey: ['GEMINI_API_KEY', 'GOOGLE_API_KEY', 'GOOGLE_GENERATIVE_AI_API_KEY'] },
  baseUrl: 'https://generativelanguage.googleapis.com/v1beta',
  dialect: 'gemini',
  priceProvider: 'google',
  models: { author: 'google', exclude: /^claude|embedding|-tts|-live|gemini-1\.|^gemini-(flash|pro)-1\.5|^gemini-pro$|-maas$/ },
  homepage: 'https://ai.google.dev',
  statusPage: 'https://aistudio.google.com/status',
  privacyPolicy: 'https://policies.google.com/privacy',
  termsOfService: 'https://ai.google.dev/gemini-api/terms',
  connect: () => ({ sign: signWithHeader('x-goog-api-key') }),
}
