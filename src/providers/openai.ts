import type { Provider } from '../core/provider.ts'
import { GPT_CACHE_MARKS, GPT_CHAT_MODELS, GPT_MODELS, GPT_PAID_TOOLS, GPT_REASONS, GPT_TIER_FACTORS } from './shared/gpt.ts'

/** OPENAI_BASE_URL is not read: clients of this gateway set it, and the gateway would call itself. */
export const openai: Provider = {
  slug: 'openai',
  name: 'OpenAI',
  env: { apiKey: ['OPENAI_API_KEY'] },
  baseUrl: 'https://api.openai.com/v1',
  dialect: 'openai-responses',
  options: {
    sampling_parameters: 'drop-when-reasoning',
    reasoning_models: GPT_REASONS,
    cache_option_models: GPT_CACHE_MARKS,
    models: GPT_MODELS,
    min_output_tokens: 16,
    suppress_obfuscation: true,
    max_tool_calls: true,
    paid_tools: GPT_PAID_TOOLS,
    tier_factors: GPT_TIER_FACTORS,
  },
  // These models are served through chat completions only.
  dialectFor: (model) => (/search-preview|audio-preview|^gpt-audio/.test(model) ? 'openai-chat' : undefined),
  dialectOptions: {
    'openai-chat': {
      system_role: 'developer',
      empty_content: 'null',
      max_tokens_field: 'max_completion_tokens',
      max_stop_sequences: 4,
      forward: ['user', 'metadata', 'safety_identifier', 'prompt_cache_key', 'service_tier'],
      tier_factors: GPT_TIER_FACTORS,
      strict_tools: true,
      optional_members: 'refused',
      json_schema: 'native',
      // Models that are served only through chat completions do not reason. The others use this format if an operator chooses it for them.
      models: GPT_CHAT_MODELS,
      think_tags: 'none',
      file: 'file',
    },
  },
  models: {
    ids: { 'codex-mini': 'codex-mini-latest', 'computer-use': 'computer-use-preview', 'gpt-5.3': 'gpt-5.3-chat-latest' },
    exclude:
      /^(ada|babbage|curie|davinci|text-(?!embedding)|ft:|chatgpt-image|gpt-image)|instruct|realtime|-image|-tts|transcribe|moderation|:extended|\.ft-|gpt-oss|^gpt-3\.5-0301$/,
  },
  homepage: 'https://openai.com',
  statusPage: 'https://status.openai.com',
  privacyPolicy: 'https://openai.com/policies/privacy-policy/',
  termsOfService: 'https://openai.com/policies/services-agreement/',
  connect: ({ organization }) =>
    organization === undefined ? {} : { headers: { 'openai-organization': organization }, scope: `openai/${organization}` },
}
