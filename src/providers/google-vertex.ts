import { z } from 'zod'
import type { Provider } from '../core/provider.ts'

const settings = z.strictObject({
  project: z.string().regex(/^[a-z0-9:.-]+$/),
  /** `global`, or a region such as europe-west4. */
  region: z
    .string()
    .regex(/^[a-z0-9-]+$/)
    .default('global'),
})

/** Credentials are OAuth access tokens, sent as bearer tokens. */
export const googleVertex: Provider = {
  slug: 'google-vertex',
  name: 'Google',
  env: {
    apiKey: ['GOOGLE_VERTEX_ACCESS_TOKEN'],
    settings: { project: ['GOOGLE_VERTEX_PROJECT', 'GOOGLE_CLOUD_PROJECT'], region: ['GOOGLE_VERTEX_LOCATION', 'GOOGLE_CLOUD_LOCATION'] },
  },
  dialect: 'gemini',
  settings,
  priceProvider: 'google',
  models: { author: 'google', exclude: /^claude|embedding|-tts|-live|gemini-1\.|^gemini-(flash|pro)-1\.5|^gemini-pro$|^gemma/ },
  homepage: 'https://cloud.google.com/vertex-ai',
  statusPage: 'https://status.cloud.google.com',
  privacyPolicy: 'https://cloud.google.com/terms/cloud-privacy-notice',
  termsOfService: 'https://cloud.google.com/terms',
  connect: ({ extra }) => {
    const { project, region } = settings.parse(extra)
    const host = region === 'global' ? 'aiplatform.googleapis.com' : `${region}-aiplatform.googleapis.com`
    return { baseUrl: `https://${host}/v1/projects/${project}/locations/${region}/publishers/google` }
  },
}
