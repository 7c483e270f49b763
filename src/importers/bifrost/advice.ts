import type { Advice } from '../shared/source-part.ts'

const toDo = (message: string): Advice => ({ kind: 'do', message })
const RELIABILITY: Advice = { kind: 'fine', message: 'nothing to set: failover, retries and cooldown need no numbers (docs/guides/reliability.md)' }
const NOTHING: Advice = { kind: 'fine', message: 'nothing to set' }
const STORE = toDo('SIGNALBOX_DATABASE_URL, with a database of its own; without, it is a file in the data directory')
const BUDGETS = toDo(
  'budgets and limits are those of keys (limit, limit_reset, rate_limits), workspaces and of the installation (docs/reference/limits.md)',
)
const ENTRA = toDo('Azure needs a key of the resource; tokens of Entra ID are not converted')
const ROLES = toDo('keys or a bearer token are needed: roles are not assumed')
const HEADERS = toDo('no header of a caller reaches a provider; X-Gateway-Metadata of a request stands in its records (docs/guides/clients.md)')
const PRIVATE: Advice = { kind: 'fine', message: 'nothing to set: providers may be anywhere' }
const MANAGEMENT = toDo('SIGNALBOX_MANAGEMENT_KEY manages; there are no passwords')

/** Notes on settings of a provider that are not imported. */
export const PROVIDER_ADVICE: { readonly [path: string]: Advice } = {
  'network_config.max_retries': RELIABILITY,
  'network_config.retry_backoff_initial': RELIABILITY,
  'network_config.retry_backoff_max': RELIABILITY,
  'network_config.stream_idle_timeout_in_seconds': toDo('timeouts.idle of the provider; auto unless set'),
  'network_config.max_conns_per_host': NOTHING,
  'network_config.keep_alive_timeout_in_seconds': NOTHING,
  'network_config.allow_private_network': PRIVATE,
  'network_config.insecure_skip_verify': toDo('certificates are always checked'),
  'network_config.ca_cert_pem': toDo('NODE_EXTRA_CA_CERTS names a file with more authorities'),
  concurrency_and_buffer_size: toDo(
    'rate_limits.concurrent_requests of the provider, where it has a limit: more calls go elsewhere or are refused, and do not wait',
  ),
  proxy_config: toDo('HTTPS_PROXY, HTTP_PROXY and NO_PROXY, for all providers (docs/guides/operations.md)'),
  send_back_raw_request: toDo('debug.echo_upstream_body of a request shows what a provider was sent'),
  send_back_raw_response: toDo('debug.echo_upstream_body of a request shows what a provider was sent'),
  store_raw_request_response: toDo('records hold requests and answers in one form for all providers'),
  pricing_overrides: toDo('pricing of endpoints'),
  'custom_provider_config.allowed_requests': toDo('the provider is asked for what its format has'),
  'custom_provider_config.request_path_overrides': toDo('the paths are those of its format'),
  'keys[].id': NOTHING,
  'keys[].name': NOTHING,
  'keys[].use_for_batch_api': toDo('batches are not served'),
  'keys[].blacklisted_models': toDo('a guardrail says which models are allowed (docs/guides/guardrails.md)'),
  'keys[].azure_key_config.api_version': { kind: 'fine', message: 'not needed: the current version of the API is asked' },
  'keys[].azure_key_config.client_id': ENTRA,
  'keys[].azure_key_config.client_secret': ENTRA,
  'keys[].azure_key_config.tenant_id': ENTRA,
  'keys[].azure_key_config.scopes': ENTRA,
  'keys[].bedrock_key_config.role_arn': ROLES,
  'keys[].bedrock_key_config.external_id': ROLES,
  'keys[].bedrock_key_config.session_name': ROLES,
  'keys[].bedrock_key_config.batch_s3_config': toDo('batches are not served'),
  'keys[].bedrock_key_config.arn': toDo('the full name of the profile is the id of the model'),
  'keys[].vertex_key_config.project_number': NOTHING,
}

/** Notes on settings of the whole file that are not imported. */
export const ADVICE: { readonly [path: string]: Advice } = {
  $schema: NOTHING,
  version: NOTHING,
  encryption_key: toDo('SIGNALBOX_SECRET_KEY, 32 bytes of its own in base64; made in the data directory unless set'),
  auth_config: MANAGEMENT,
  'governance.auth_config': MANAGEMENT,
  'governance.virtual_keys': toDo(
    'POST /api/v1/keys makes keys, with limits; a guardrail says which models and providers one may use. Values of old keys are not carried',
  ),
  'governance.routing_rules': toDo('callers name the model or a preset (docs/guides/presets.md): nothing chooses by conditions'),
  'governance.budgets': BUDGETS,
  'governance.rate_limits': BUDGETS,
  'governance.model_configs': BUDGETS,
  'governance.providers': BUDGETS,
  'governance.customers': toDo('a workspace each, with its budget (docs/guides/workspaces.md)'),
  'governance.teams': toDo('a workspace each, with its budget (docs/guides/workspaces.md)'),
  'governance.pricing_overrides': toDo('pricing of endpoints'),
  config_store: STORE,
  logs_store: STORE,
  vector_store: toDo('answers are kept for identical requests only (docs/guides/answer-cache.md)'),
  mcp: toDo('MCP servers are named in a request or a preset (docs/guides/mcp.md)'),
  'framework.pricing': toDo('prices come with the gateway; pricing of endpoints says others'),
  guardrails_config: toDo('guardrails (docs/guides/guardrails.md), or guardrails.rules of the file'),
  cluster_config: toDo('several processes share a database and Redis (docs/guides/several-processes.md)'),
  server: NOTHING,
  'client.enforce_governance_header': NOTHING,
  'client.enforce_auth_on_inference': toDo('every call needs a key'),
  'client.disable_content_logging': toDo('a workspace says whether prompts are kept (docs/guides/workspaces.md)'),
  'client.enable_logging': toDo('every call is recorded; logging.level is about the log of the process'),
  'client.log_retention_days': toDo('retention.generations'),
  'client.drop_excess_requests': toDo('overload refuses calls before those under way become slow'),
  'client.initial_pool_size': NOTHING,
  'client.allowed_headers': HEADERS,
  'client.header_filter_config': HEADERS,
  'client.logging_headers': HEADERS,
  'client.compat': {
    kind: 'fine',
    message: 'nothing to set: every format is served by models of any other, and what an endpoint has no place for is told',
  },
  'client.whitelisted_routes': toDo('every call needs a key; healthz and readyz need none'),
  'client.async_job_result_ttl': toDo('answers are streamed or awaited; there are no jobs to fetch later'),
  'client.prometheus_labels': NOTHING,
  'client.allow_direct_keys': toDo('POST /api/v1/byok keeps a workspace’s own keys; none is read from a request'),
}
