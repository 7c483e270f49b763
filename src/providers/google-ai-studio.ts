import type { Provider } from '../core/provider.ts'
import { GEMINI_TIER_FACTORS } from './shared/gemini.ts'
import { signWithHeader } from './shared/sign.ts'

export const googleAiStudio: Provider = {
  slug: 'google-ai-studio',
  name: 'Google AI Studio',
  env: { apiKey: ['GEMINI_API_KEY', 'GOOGLE_API_KEY', 'GOOGLE_GENERATIVE_AI_API_KEY'] },
  baseUrl: 'https://generativelanguage.googleapis.com/v1beta',
  dialect: 'gemini',
  options: {
    service_tier: true,
    tier_factors: GEMINI_TIER_FACTORS,
    pass_through: ['safetySettings'],
    // Only the cloud platform reads buckets.
    file_uris: ['^https://generativelanguage\\.googleapis\\.com/.*files/', '^https?://(www\\.|m\\.)?(youtube\\.com|youtu\\.be)/'],
  },
  priceProvider: 'google',
  models: {
    author: 'google',
    exclude: /^claude|-tts|-live|gemini-1\.|^gemini-(flash|pro)-1\.5|^gemini-pro$|-maas$/,
    // "Logprobs is not enabled" for models of this API.
    unsupported: ['logprobs', 'top_logprobs'],
  },
  homepage: 'https://ai.google.dev',
  statusPage: 'https://aistudio.google.com/status',
  privacyPolicy: 'https://policies.google.com/privacy',
  termsOfService: 'https://ai.google.dev/gemini-api/terms',
  // The key is never sent in the URL, because URLs are logged.
  connect: () => ({ sign: signWithHeader('x-goog-api-key') }),
}
