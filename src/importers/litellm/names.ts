/** LiteLLM's names and their equivalents here. Data only; the code that reads it is in the files next to this one. */

export const NAME = 'litellm'

/** A provider, as the prefix of `litellm_params.model`. */
export interface Prefix {
  /** The built-in provider. Without one, it is a server that speaks `dialect`. */
  readonly provider?: string
  /** The dialect of servers at other addresses than the provider's own. Default: the provider works with any address. */
  readonly elsewhere?: string
  /** Further hosts that belong to the provider. */
  readonly hosts?: RegExp
  /** The variable with the key, for entries that state none. */
  readonly key?: string
  /** Settings that accompany the key of that variable. */
  readonly keySettings?: { readonly [setting: string]: string }
  /** Other places where LiteLLM finds keys, and this gateway does not. */
  readonly keyNote?: string
  /** Parameters that contain the key. Default: `api_key`. */
  readonly keyParams?: readonly string[]
  /** The variable with the address, for entries that state none if no other address is known. */
  readonly base?: string
  /** Parameters that contain the address. Default: `api_base`, `base_url`. */
  readonly baseParams?: readonly string[]
  /** The path that addresses in LiteLLM omit. */
  readonly path?: string
  /** Addresses in LiteLLM lead to one deployment, so only scheme and host count. */
  readonly origin?: true
  /** Parameters that become settings of the provider. */
  readonly settings?: { readonly [param: string]: string }
  /** Settings that LiteLLM has by default. */
  readonly defaults?: { readonly [setting: string]: string }
  /** A part of the model's id that is a setting: the first group of the pattern. It is removed from the id. */
  readonly settingInId?: readonly [setting: string, pattern: RegExp]
  /** How ids are spelled here. */
  readonly ids?: readonly (readonly [pattern: RegExp, replacement: string])[]
  /** A setting that replaces a key. */
  readonly insteadOfKey?: string
}

const AZURE: Prefix = {
  provider: 'azure',
  key: 'AZURE_API_KEY',
  base: 'AZURE_API_BASE',
  origin: true,
  hosts: /\.(?:openai|services\.ai|cognitiveservices)\.azure\.com$/,
  ids: [[/^(?:o_series|gpt5_series|responses|global|global-standard|eu|us)\//, '']],
}
const OPENAI: Prefix = {
  provider: 'openai',
  elsewhere: 'openai-chat',
  hosts: /(?:^|\.)openai\.com$/,
  key: 'OPENAI_API_KEY',
  ids: [[/^(?:responses|chat|chat\/completions)\//, '']],
}
const BEDROCK: Prefix = {
  provider: 'amazon-bedrock',
  key: 'AWS_SECRET_ACCESS_KEY',
  keySettings: { access_key_id: '${AWS_ACCESS_KEY_ID}' },
  keyNote:
    'keys are read from AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY: profiles and roles of the machine are not (AWS_BEARER_TOKEN_BEDROCK under api_keys does as well)',
  keyParams: ['api_key', 'aws_secret_access_key'],
  baseParams: ['aws_bedrock_runtime_endpoint', 'api_base'],
  settings: { aws_region_name: 'region', aws_access_key_id: 'access_key_id', aws_session_token: 'session_token' },
  defaults: { region: '${AWS_REGION}' },
  settingInId: ['region', /^(?:converse\/|invoke\/)?([a-z]{2}(?:-[a-z]+)+-\d)\/(?=.)/],
  ids: [[/^(?:converse|converse_like|invoke)\//, '']],
}
const VERTEX: Prefix = {
  provider: 'google-vertex',
  key: 'GOOGLE_APPLICATION_CREDENTIALS',
  settings: { vertex_project: 'project', vertex_location: 'location', vertex_credentials: 'credentials' },
  insteadOfKey: 'credentials',
  keyNote: 'GOOGLE_APPLICATION_CREDENTIALS is read as the path of a key file: what the machine itself is allowed is not asked for',
  defaults: { location: '${VERTEXAI_LOCATION:-us-central1}' },
  // Deployed endpoints have numeric ids.
  ids: [
    [/^gemini\/(?=\d)/, ''],
    [/^(\d+)$/, 'endpoints/$1'],
  ],
}
const COHERE: Prefix = { provider: 'cohere', key: 'COHERE_API_KEY' }
const OLLAMA: Prefix = { provider: 'ollama', base: 'OLLAMA_API_BASE', path: '/v1' }
const AI21: Prefix = { provider: 'ai21', key: 'AI21_API_KEY' }
const SERVER: Prefix = { elsewhere: 'openai-chat', key: 'OPENAI_API_KEY' }

/** Prefixes that are missing here are built-in providers of the same name, or unknown. */
export const PREFIXES: { readonly [prefix: string]: Prefix } = {
  openai: OPENAI,
  custom_openai: SERVER,
  openai_like: SERVER,
  azure: AZURE,
  azure_ai: {
    ...AZURE,
    elsewhere: 'openai-chat',
    key: 'AZURE_AI_API_KEY',
    base: 'AZURE_AI_API_BASE',
  },
  anthropic: { provider: 'anthropic', key: 'ANTHROPIC_API_KEY', path: '/v1' },
  bedrock: BEDROCK,
  bedrock_converse: BEDROCK,
  bedrock_mantle: { ...BEDROCK, provider: 'amazon-bedrock-mantle' },
  vertex_ai: VERTEX,
  vertex_ai_beta: VERTEX,
  gemini: { provider: 'google-ai-studio', key: 'GEMINI_API_KEY' },
  mistral: { provider: 'mistral', key: 'MISTRAL_API_KEY' },
  cohere: COHERE,
  cohere_chat: COHERE,
  groq: { provider: 'groq', key: 'GROQ_API_KEY' },
  together_ai: { provider: 'together', key: 'TOGETHERAI_API_KEY' },
  fireworks_ai: { provider: 'fireworks', key: 'FIREWORKS_API_KEY', ids: [[/^(?!accounts\/)(.*)$/, 'accounts/fireworks/models/$1']] },
  deepinfra: { provider: 'deepinfra', key: 'DEEPINFRA_API_KEY' },
  deepseek: { provider: 'deepseek', key: 'DEEPSEEK_API_KEY' },
  perplexity: { provider: 'perplexity', key: 'PERPLEXITYAI_API_KEY' },
  openrouter: { provider: 'openrouter', key: 'OPENROUTER_API_KEY' },
  xai: { provider: 'xai', key: 'XAI_API_KEY' },
  // A provider behind Hugging Face's router comes first in LiteLLM's ids and last here. Other addresses are servers of the operator.
  huggingface: {
    provider: 'huggingface',
    elsewhere: 'openai-chat',
    hosts: /(?:^|\.)huggingface\.co$/,
    key: 'HUGGINGFACE_API_KEY',
    path: '/v1',
    ids: [[/^([^/]+)\/([^/]+\/[^/]+)$/, '$2:$1']],
  },
  nvidia_nim: { provider: 'nvidia', key: 'NVIDIA_NIM_API_KEY' },
  cerebras: { provider: 'cerebras', key: 'CEREBRAS_API_KEY' },
  sambanova: { provider: 'sambanova', key: 'SAMBANOVA_API_KEY' },
  ai21: AI21,
  ai21_chat: AI21,
  databricks: { provider: 'databricks', key: 'DATABRICKS_API_KEY', base: 'DATABRICKS_API_BASE' },
  snowflake: {
    provider: 'snowflake-cortex',
    key: 'SNOWFLAKE_JWT',
    settings: { account_id: 'account' },
    defaults: { account: '${SNOWFLAKE_ACCOUNT_ID}' },
  },
  cloudflare: { provider: 'cloudflare', key: 'CLOUDFLARE_API_KEY', defaults: { account_id: '${CLOUDFLARE_ACCOUNT_ID}' } },
  volcengine: { provider: 'volcengine', key: 'VOLCENGINE_API_KEY' },
  moonshot: { provider: 'moonshotai', key: 'MOONSHOT_API_KEY' },
  dashscope: { provider: 'alibaba', key: 'DASHSCOPE_API_KEY' },
  zai: { provider: 'zai', key: 'ZAI_API_KEY' },
  minimax: { provider: 'minimax', key: 'MINIMAX_API_KEY' },
  novita: { provider: 'novita', key: 'NOVITA_API_KEY' },
  nebius: { provider: 'nebius', key: 'NEBIUS_API_KEY' },
  featherless_ai: { provider: 'featherless', key: 'FEATHERLESS_AI_API_KEY' },
  friendliai: { provider: 'friendli', key: 'FRIENDLI_TOKEN' },
  hyperbolic: { provider: 'hyperbolic', key: 'HYPERBOLIC_API_KEY' },
  meta_llama: { provider: 'meta-llama', key: 'LLAMA_API_KEY' },
  morph: { provider: 'morph', key: 'MORPH_API_KEY' },
  nscale: { provider: 'nscale', key: 'NSCALE_API_KEY' },
  ovhcloud: { provider: 'ovhcloud', key: 'OVHCLOUD_API_KEY' },
  publicai: { provider: 'publicai', key: 'PUBLICAI_API_KEY' },
  inception: { provider: 'inception', key: 'INCEPTION_API_KEY' },
  wandb: { provider: 'wandb', key: 'WANDB_API_KEY' },
  vercel_ai_gateway: { provider: 'vercel', key: 'VERCEL_AI_GATEWAY_API_KEY' },
  voyage: { provider: 'voyage', key: 'VOYAGE_API_KEY' },
  gradient_ai: { provider: 'digitalocean', key: 'GRADIENT_AI_API_KEY' },
  github: { provider: 'github-models', key: 'GITHUB_API_KEY' },
  clarifai: { provider: 'clarifai', key: 'CLARIFAI_API_KEY' },
  baseten: { provider: 'baseten', key: 'BASETEN_API_KEY' },
  heroku: { provider: 'heroku', key: 'HEROKU_API_KEY' },
  chutes: { provider: 'chutes', key: 'CHUTES_API_KEY' },
  xiaomi_mimo: { provider: 'xiaomi', key: 'XIAOMI_MIMO_API_KEY' },
  synthetic: { provider: 'synthetic', key: 'SYNTHETIC_API_KEY' },
  poe: { provider: 'poe', key: 'POE_API_KEY' },
  'nano-gpt': { provider: 'nano-gpt', key: 'NANOGPT_API_KEY' },
  ollama: OLLAMA,
  ollama_chat: OLLAMA,
  hosted_vllm: { provider: 'vllm', base: 'HOSTED_VLLM_API_BASE' },
  lm_studio: { provider: 'lmstudio', base: 'LM_STUDIO_API_BASE' },
  llamafile: { provider: 'llamafile', base: 'LLAMAFILE_API_BASE' },
  xinference: { provider: 'xinference', base: 'XINFERENCE_API_BASE' },
  litellm_proxy: { provider: 'litellm', key: 'LITELLM_PROXY_API_KEY', base: 'LITELLM_PROXY_API_BASE', path: '/v1' },
}

/** Providers of ids without a prefix, by how the ids begin. The first match wins. */
export const BARE: readonly (readonly [pattern: RegExp, prefix: string])[] = [
  [/^(?:gpt-|chatgpt|o\d|codex|text-embedding-|ft:gpt-|computer-use)/, 'openai'],
  [/^claude/, 'anthropic'],
  [/^(?:gemini|text-multilingual-embedding|textembedding-gecko)/, 'vertex_ai'],
  [/^(?:command|embed-)/, 'cohere'],
  [/^(?:(?:us|eu|apac|global)\.)?(?:anthropic|amazon|meta|cohere|mistral|ai21)\./, 'bedrock'],
  [/^jamba/, 'ai21'],
]

/** Callbacks that correspond to destination types here. */
export const CALLBACKS: { readonly [callback: string]: string } = {
  arize: 'arize',
  arize_phoenix: 'phoenix',
  braintrust: 'braintrust',
  datadog: 'datadog',
  datadog_llm_observability: 'datadog',
  generic_api: 'webhook',
  helicone: 'helicone',
  langfuse: 'langfuse',
  langfuse_otel: 'langfuse',
  langsmith: 'langsmith',
  newrelic: 'newrelic',
  opik: 'opik',
  otel: 'otel-collector',
  posthog: 'posthog',
  s3: 's3',
  s3_v2: 's3',
  sentry: 'sentry',
  weave_otel: 'weave',
  webhook: 'webhook',
}

/** Callbacks that check content and do not send it anywhere. */
export const GUARDS: ReadonlySet<string> = new Set([
  'aporia_prompt_injection',
  'azure_content_safety',
  'banned_keywords',
  'blocked_user_check',
  'detect_prompt_injection',
  'google_text_moderation',
  'hide_secrets',
  'lakera_prompt_injection',
  'llamaguard_moderations',
  'llmguard_moderations',
  'openai_moderations',
  'presidio',
])
