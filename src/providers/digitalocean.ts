import type { Provider } from '../core/provider.ts'

/** Inference requires a model access key. DigitalOcean's account token is a different credential and is not read. */
export const digitalocean: Provider = {
  slug: 'digitalocean',
  name: 'DigitalOcean',
  env: { apiKey: ['GRADIENT_MODEL_ACCESS_KEY'] },
  baseUrl: 'https://inference.do-ai.run/v1',
  dialect: 'openai-chat',
  homepage: 'https://www.digitalocean.com/products/gradient',
  statusPage: 'https://status.digitalocean.com',
  privacyPolicy: 'https://www.digitalocean.com/legal/privacy-policy',
}
