import { z } from 'zod'
import type { Provider } from '../core/provider.ts'
import { signForAws } from './shared/aws-credentials.ts'
import { CLAUDE_OPTIONS_CHECKED } from './shared/claude.ts'
import { GPT_ON_BEDROCK } from './shared/gpt.ts'

const settings = z.strictObject({
  region: z.string().regex(/^[a-z]{2}(-[a-z]+)+-\d$/),
  /** The access key id that belongs to a secret access key given as the credential. */
  access_key_id: z
    .string()
    .regex(/^[A-Z0-9]{16,}$/)
    .optional(),
  /** For temporary access keys. */
  session_token: z.string().min(1).optional(),
})

/**
 * Bedrock with its own API keys, sent as bearer tokens, or with access keys, which sign each request. Claude's own format is available too: `dialect:
 * anthropic-invoke`.
 */
export const amazonBedrock: Provider = {
  slug: 'amazon-bedrock',
  name: 'Amazon Bedrock',
  env: {
    apiKey: ['AWS_BEARER_TOKEN_BEDROCK', 'AWS_SECRET_ACCESS_KEY'],
    settings: { region: ['AWS_REGION', 'AWS_DEFAULT_REGION'], access_key_id: ['AWS_ACCESS_KEY_ID'], session_token: ['AWS_SESSION_TOKEN'] },
  },
  dialect: 'bedrock-converse',
  // Converse serves only the open-weight models of OpenAI.
  dialectFor: (model) => (/(?:^|\.)openai\.gpt-(?!oss)/.test(model) ? 'openai-responses' : undefined),
  embeddings: 'titan-embed',
  embeddingsFor: [[/(?:^|\.)cohere\./, 'cohere-embed']],
  dialectOptions: {
    'anthropic-invoke': CLAUDE_OPTIONS_CHECKED,
    'cohere-embed': { path: '/model/{model}/invoke', model_in_body: false, image_urls: 'text' },
    // Bedrock runs no built-in tools at this address.
    'openai-responses': { ...GPT_ON_BEDROCK, path: '/openai/v1/responses', builtin_tools: false },
  },
  settings,
  priceProvider: 'aws',
  // `regional.` stands for several prefixes (us., eu., ...) that depend on the account's region, so the operator names such ids.
  models: {
    exclude: /sonic|^regional\./,
    // The price data know only the first generation, and would take this model for it.
    list: [
      {
        slug: 'amazon/titan-embed-text-v2',
        name: 'Titan Text Embeddings V2',
        upstreamModel: 'amazon.titan-embed-text-v2:0',
        contextLength: 8_192,
        pricing: { input: 0.02, output: 0 },
        answers: 'embeddings',
      },
    ],
  },
  homepage: 'https://aws.amazon.com/bedrock/',
  statusPage: 'https://health.aws.amazon.com/health/status',
  privacyPolicy: 'https://aws.amazon.com/privacy/',
  termsOfService: 'https://aws.amazon.com/service-terms/',
  connect: ({ extra }) => {
    const { region, ...account } = settings.parse(extra)
    return { baseUrl: `https://bedrock-runtime.${region}.amazonaws.com`, sign: signForAws({ service: 'bedrock', region }, account) }
  },
}
