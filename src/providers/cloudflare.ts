import { z } from 'zod'
import type { Provider } from '../core/provider.ts'

const settings = z.strictObject({ account_id: z.string().regex(/^[a-zA-Z0-9]+$/) })

/** Workers AI. */
export const cloudflare: Provider = {
  slug: 'cloudflare',
  name: 'Cloudflare',
  env: { apiKey: ['CLOUDFLARE_API_TOKEN', 'CLOUDFLARE_API_KEY'], settings: { account_id: ['CLOUDFLARE_ACCOUNT_ID'] } },
  dialect: 'openai-chat',
  // Unless told otherwise, a model writes at most 256 tokens. `tool_choice` cannot name a tool.
  options: { default_max_tokens: 32_768, named_tool_choice: false },
  dialectOptions: { 'openai-embeddings': { most_inputs: 100 } },
  settings,
  models: { exclude: /distilbert|indictrans|m2m100|plamo/ },
  homepage: 'https://developers.cloudflare.com/workers-ai/',
  statusPage: 'https://www.cloudflarestatus.com',
  privacyPolicy: 'https://www.cloudflare.com/privacypolicy/',
  termsOfService: 'https://www.cloudflare.com/terms/',
  connect: ({ extra }) => ({ baseUrl: `https://api.cloudflare.com/client/v4/accounts/${settings.parse(extra).account_id}/ai/v1` }),
}
