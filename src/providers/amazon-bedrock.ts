import { z } from 'zod'
import type { Provider } from '../core/provider.ts'

const settings = z.strictObject({ region: z.string().regex(/^[a-z]{2}(-[a-z]+)+-\d$/) })

/** Bedrock with its own API keys, sent as bearer tokens. */
export const amazonBedrock: Provider = {
  slug: 'amazon-bedrock',
  name: 'Amazon Bedrock',
  env: { apiKey: ['AWS_BEARER_TOKEN_BEDROCK'], settings: { region: ['AWS_REGION', 'AWS_DEFAULT_REGION'] } },
  dialect: 'bedrock-converse',
  settings,
  priceProvider: 'aws',
  // `regional.` stands for several prefixes (us., eu., ...) that depend on the account's region: such ids are named by the operator.
  models: { exclude: /embed|sonic|^regional\./ },
  homepage: 'https://aws.amazon.com/bedrock/',
  statusPage: 'https://health.aws.amazon.com/health/status',
  privacyPolicy: 'https://aws.amazon.com/privacy/',
  termsOfService: 'https://aws.amazon.com/service-terms/',
  connect: ({ extra }) => ({ baseUrl: `https://bedrock-runtime.${settings.parse(extra).region}.amazonaws.com` }),
}
