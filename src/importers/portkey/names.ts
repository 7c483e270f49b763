/** Portkey's names and their equivalents here. Data only; the code that reads it is in the files next to this one. */

export const NAME = 'portkey'

/** The model that stands for a whole config, for callers that sent its id in a header. */
export const CONFIG_MODEL = 'portkey/config'

/** Provider names as Portkey writes them, and as people name the keys they store there. Names that are missing here are built-in providers of the same name, or unknown. */
export const PROVIDERS: { readonly [name: string]: string } = {
  aws: 'amazon-bedrock',
  'azure-ai': 'azure',
  'azure-openai': 'azure',
  bedrock: 'amazon-bedrock',
  claude: 'anthropic',
  cortex: 'snowflake-cortex',
  dashscope: 'alibaba',
  'featherless-ai': 'featherless',
  'fireworks-ai': 'fireworks',
  gemini: 'google-ai-studio',
  github: 'github-models',
  google: 'google-ai-studio',
  'mistral-ai': 'mistral',
  moonshot: 'moonshotai',
  'novita-ai': 'novita',
  'perplexity-ai': 'perplexity',
  'together-ai': 'together',
  vertex: 'google-vertex',
  'vertex-ai': 'google-vertex',
  'workers-ai': 'cloudflare',
  'x-ai': 'xai',
  'z-ai': 'zai',
}

/** Members that contain the key, in order of precedence. */
export const KEYS: readonly string[] = ['api_key', 'aws_secret_access_key']

/** Members that become settings, per provider here, because providers use the same member names for different things. */
export const SETTINGS: { readonly [provider: string]: { readonly [member: string]: string } } = {
  'amazon-bedrock': { aws_region: 'region', aws_access_key_id: 'access_key_id', aws_session_token: 'session_token' },
  'google-vertex': { vertex_project_id: 'project', vertex_region: 'location', vertex_service_account_json: 'credentials' },
  azure: { resource_name: 'resource', azure_resource_name: 'resource' },
  cloudflare: { workers_ai_account_id: 'account_id' },
  'snowflake-cortex': { snowflake_account: 'account' },
}

/** Members that name the model in Portkey. */
export const MODELS: readonly string[] = ['deployment_id', 'azure_deployment_id', 'azure_model_name', 'azure_deployment_name']
