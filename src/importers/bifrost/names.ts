/** Bifrost's names and their equivalents here. Data only; the code that reads it is in the files next to this one. */

export const NAME = 'bifrost'

/** Names that are missing here are built-in providers of the same name, or unknown. */
export const PROVIDERS: { readonly [name: string]: string } = {
  bedrock: 'amazon-bedrock',
  bedrock_mantle: 'amazon-bedrock-mantle',
  gemini: 'google-ai-studio',
  sgl: 'sglang',
  vertex: 'google-vertex',
}

/** Formats of custom providers. */
export const DIALECTS: { readonly [base: string]: string } = {
  anthropic: 'anthropic-messages',
  cohere: 'cohere-v2',
  gemini: 'gemini',
  openai: 'openai-chat',
}

/** The objects that describe the account of a key beside its value, and those of their members that become settings. */
export const KEY_CONFIGS: readonly {
  readonly config: string
  readonly address?: string
  readonly settings?: { readonly [member: string]: string }
  /** The member that names the only model of the server. */
  readonly model?: string
}[] = [
  { config: 'azure_key_config', address: 'endpoint' },
  { config: 'bedrock_key_config', settings: { region: 'region', access_key: 'access_key_id', session_token: 'session_token' } },
  { config: 'bedrock_mantle_key_config', settings: { region: 'region', access_key: 'access_key_id', session_token: 'session_token' } },
  { config: 'vertex_key_config', settings: { project_id: 'project', region: 'location', auth_credentials: 'credentials' } },
  { config: 'vllm_key_config', address: 'url', model: 'model_name' },
  { config: 'ollama_key_config', address: 'url' },
  { config: 'sgl_key_config', address: 'url' },
]

/** Only the host of its addresses counts; the provider adds the version. */
export const HOST_ALONE = 'azure_key_config'

/** The variables that hold a key if the file leaves it to the machine. */
export const USUAL_KEYS: { readonly [name: string]: string } = {
  azure: 'AZURE_API_KEY',
  bedrock: 'AWS_SECRET_ACCESS_KEY',
  bedrock_mantle: 'AWS_SECRET_ACCESS_KEY',
  vertex: 'GOOGLE_APPLICATION_CREDENTIALS',
}

/** Plugins that have an equivalent here. */
export const PLUGINS: { readonly [plugin: string]: string } = {
  bigquery: 'a destination of type bigquery, registered while it runs (docs/guides/destinations.md)',
  datadog: 'a destination of type datadog, registered while it runs (docs/guides/destinations.md)',
  otel: 'a destination of type otel-collector, registered while it runs (docs/guides/destinations.md)',
  kafka: 'a destination of type kafka-rest, registered while it runs (docs/guides/destinations.md)',
  governance: 'keys are always asked for; what they may is theirs (docs/reference/limits.md)',
  jsonparser: 'the plugin response-healing (docs/guides/plugins.md)',
  logging: 'every call is recorded; a workspace says whether prompts are kept (docs/guides/workspaces.md)',
  mocker: 'the provider demo answers without a network',
  prometheus: 'metrics are at /metrics',
  semantic_cache: 'answers are kept for identical requests only (docs/guides/answer-cache.md)',
  semanticcache: 'answers are kept for identical requests only (docs/guides/answer-cache.md)',
  telemetry: 'metrics are at /metrics',
}
