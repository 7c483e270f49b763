/** What Portkey calls things, and what they are here. Data alone: how it is read stands beside it. */

export const NAME = 'portkey'

/** The model that a whole config becomes, for callers who sent its id in a header. */
export const CONFIG_MODEL = 'portkey/config'

/** Those that are not here are built-in providers of the same name, or unknown. */
export const PROVIDERS: { readonly [name: string]: string } = {
  'azure-ai': 'azure',
  'azure-openai': 'azure',
  bedrock: 'amazon-bedrock',
  cortex: 'snowflake-cortex',
  dashscope: 'alibaba',
  'featherless-ai': 'featherless',
  'fireworks-ai': 'fireworks',
  github: 'github-models',
  google: 'google-ai-studio',
  'mistral-ai': 'mistral',
  moonshot: 'moonshotai',
  'novita-ai': 'novita',
  'perplexity-ai': 'perplexity',
  'together-ai': 'together',
  'vertex-ai': 'google-vertex',
  'workers-ai': 'cloudflare',
  'x-ai': 'xai',
  'z-ai': 'zai',
}

/** Members that hold the key, in the order in which they are looked for. */
export const KEYS: readonly string[] = ['api_key', 'aws_secret_access_key']

/** Members that are settings, by provider here: others have a member of the same name for something else. */
export const SETTINGS: { readonly [provider: string]: { readonly [member: string]: string } } = {
  'amazon-bedrock': { aws_region: 'region', aws_access_key_id: 'access_key_id', aws_session_token: 'session_token' },
  'google-vertex': { vertex_project_id: 'project', vertex_region: 'location', vertex_service_account_json: 'credentials' },
  azure: { resource_name: 'resource', azure_resource_name: 'resource' },
  cloudflare: { workers_ai_account_id: 'account_id' },
  'snowflake-cortex': { snowflake_account: 'account' },
}

/** Members that name the model there. */
export const MODELS: readonly string[] = ['deployment_id', 'azure_deployment_id', 'azure_model_name', 'azure_deployment_name']
