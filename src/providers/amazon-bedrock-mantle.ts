import { z } from 'zod'
import type { Provider } from '../core/provider.ts'
import { signForAws } from './shared/aws-credentials.ts'
import { CLAUDE_OPTIONS } from './shared/claude.ts'
import { ALWAYS_REASONING, GPT_ON_BEDROCK } from './shared/gpt.ts'

const settings = z.strictObject({
  region: z.string().regex(/^[a-z]{2}(-[a-z]+)+-\d$/),
  access_key_id: z
    .string()
    .regex(/^[A-Z0-9]{16,}$/)
    .optional(),
  session_token: z.string().min(1).optional(),
})

/** "model … isn't supported on this route": each model is served in one folder only. */
function folderOf(model: string): string {
  if (/anthropic\.claude/.test(model)) return 'anthropic/v1'
  return /(?:^|\.)(?:openai\.gpt-(?!oss)|google\.gemma-4|xai\.)/.test(model) ? 'openai/v1' : 'v1'
}

/**
 * Bedrock's second address, where models speak the formats of their vendors. The environment alone never switches it on: it shares the credentials of
 * the first address, and operators who prefer this one configure them here again. The operator names the models.
 */
export const amazonBedrockMantle: Provider = {
  slug: 'amazon-bedrock-mantle',
  name: 'Amazon Bedrock',
  env: { settings: { region: ['AWS_REGION', 'AWS_DEFAULT_REGION'], access_key_id: ['AWS_ACCESS_KEY_ID'], session_token: ['AWS_SESSION_TOKEN'] } },
  dialect: 'openai-chat',
  options: { reasoning_style: 'effort', models: ALWAYS_REASONING },
  dialectFor: (model) => (/anthropic\.claude/.test(model) ? 'anthropic-messages' : /openai\.gpt/.test(model) ? 'openai-responses' : undefined),
  dialectOptions: {
    'anthropic-messages': CLAUDE_OPTIONS,
    'openai-responses': GPT_ON_BEDROCK,
  },
  settings,
  models: { exclude: /^/ },
  headers: { 'anthropic-version': '2023-06-01' },
  homepage: 'https://aws.amazon.com/bedrock/',
  statusPage: 'https://health.aws.amazon.com/health/status',
  privacyPolicy: 'https://aws.amazon.com/privacy/',
  termsOfService: 'https://aws.amazon.com/service-terms/',
  connect: ({ extra, baseUrl }) => {
    const { region, ...account } = settings.parse(extra)
    const host = `https://bedrock-mantle.${region}.api.aws`
    return {
      baseUrl: `${host}/v1`,
      // An operator's own base URL is used unchanged.
      ...(baseUrl === undefined ? { baseUrlFor: (model: string) => `${host}/${folderOf(model)}` } : {}),
      sign: signForAws({ service: 'bedrock-mantle', region }, account),
    }
  },
}
