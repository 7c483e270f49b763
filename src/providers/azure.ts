import { z } from 'zod'
import type { Provider } from '../core/provider.ts'
import { CLAUDE_OPTIONS } from './shared/claude.ts'
import { ALWAYS_REASONING, GPT_CACHE_MARKS, GPT_MODELS, GPT_PAID_TOOLS, GPT_REASONS } from './shared/gpt.ts'
import { signWithHeader } from './shared/sign.ts'

const settings = z.strictObject({
  /** The `<resource>` of `https://<resource>.openai.azure.com`. */
  resource: z
    .string()
    .regex(/^[a-zA-Z0-9-]+$/)
    .optional(),
})

const RESOURCE_HOST = /^https:\/\/([a-zA-Z0-9-]+)\.(?:openai\.azure|services\.ai\.azure|cognitiveservices\.azure)\.com(?:\/|$)/

/** Models are named by deployment, and operators choose these names. None is listed therefore, and `azure/<deployment>` reaches any of them. */
export const azure: Provider = {
  slug: 'azure',
  name: 'Azure',
  env: {
    apiKey: ['AZURE_OPENAI_API_KEY', 'AZURE_API_KEY'],
    baseUrl: ['AZURE_OPENAI_ENDPOINT'],
    settings: { resource: ['AZURE_RESOURCE_NAME'] },
  },
  basePath: '/openai/v1',
  dialect: 'openai-chat',
  options: {
    system_role: 'system',
    max_tokens_field: 'max_completion_tokens',
    max_stop_sequences: 4,
    reasoning_style: 'effort',
    models: ALWAYS_REASONING,
    forward: ['user'],
  },
  // Deployments of OpenAI's own models accept the Responses format. For those of other vendors only chat completions have been observed to work.
  dialectFor: (model) => {
    if (model.startsWith('claude')) return 'anthropic-messages'
    return /^(gpt-(?!oss)|o\d|codex|computer-use)/.test(model) ? 'openai-responses' : undefined
  },
  dialectOptions: {
    'anthropic-messages': CLAUDE_OPTIONS,
    'openai-responses': {
      sampling_parameters: 'drop-when-reasoning',
      reasoning_models: GPT_REASONS,
      cache_option_models: GPT_CACHE_MARKS,
      models: GPT_MODELS,
      min_output_tokens: 16,
      reasoning_format: 'azure-openai-responses-v1',
      max_tool_calls: true,
      paid_tools: GPT_PAID_TOOLS,
    },
  },
  settings,
  models: { exclude: /^/ },
  homepage: 'https://azure.microsoft.com/en-us/products/ai-foundry',
  statusPage: 'https://azure.status.microsoft',
  privacyPolicy: 'https://www.microsoft.com/privacy/privacystatement',
  connect: ({ extra, baseUrl }) => {
    // A resource has one name and several hosts; Claude has a separate host.
    const resource = settings.parse(extra).resource ?? RESOURCE_HOST.exec(baseUrl ?? '')?.[1]
    const sign = signWithHeader('api-key')
    if (resource === undefined) return { sign }
    return {
      sign,
      baseUrl: `https://${resource}.openai.azure.com/openai/v1`,
      baseUrls: { 'anthropic-messages': `https://${resource}.services.ai.azure.com/anthropic/v1` },
    }
  },
}
