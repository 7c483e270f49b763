import type { Provider } from '../core/provider.ts'

/**
 * Managed Inference. The add-on calls its variable INFERENCE_KEY, which is too common a name to switch on a provider: refer to it in the
 * configuration.
 */
export const heroku: Provider = {
  slug: 'heroku',
  name: 'Heroku',
  env: {},
  baseUrl: 'https://us.inference.heroku.com/v1',
  dialect: 'openai-chat',
  homepage: 'https://www.heroku.com/ai/',
  statusPage: 'https://status.heroku.com',
  privacyPolicy: 'https://www.salesforce.com/company/legal/privacy/',
}
