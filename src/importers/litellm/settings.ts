import { defined } from '../../lib/defined.ts'
import type { Advice, SourcePart } from '../shared/source-part.ts'
import type { Patience } from '../shared/accounts.ts'
import { CALLBACKS, GUARDS } from './names.ts'
import { NOTATION } from './references.ts'

const { amountOf, secondsOf, wholeOf } = NOTATION

const RELIABILITY: Advice = { kind: 'fine', message: 'nothing to set: failover, retries and cooldown need no numbers (docs/guides/reliability.md)' }
const REDIS: Advice = { kind: 'do', message: 'SIGNALBOX_REDIS_URL, where several processes share limits; one process needs none' }
const PRESET: Advice = { kind: 'do', message: 'a request or a preset says it (POST /api/v1/presets)' }
const DATABASE: Advice = { kind: 'do', message: 'SIGNALBOX_DATABASE_URL, with a database of its own; without, it is a file in the data directory' }
const ROLES: Advice = { kind: 'do', message: 'keys or a bearer token are needed: roles, profiles and tokens of the machine are not read' }
const LOGS: Advice = { kind: 'fine', message: 'logging.level and logging.format say what is logged; as JSON unless set' }
const CACHE: Advice = {
  kind: 'do',
  message: 'answers are kept for requests with X-Gateway-Cache: true, or of a preset with cache_enabled (docs/guides/answer-cache.md)',
}
const TEAMS: Advice = { kind: 'do', message: 'a guardrail with allowed_models says who may ask for a model (docs/guides/guardrails.md)' }
const HEADERS: Advice = { kind: 'do', message: 'no header of a caller reaches a provider; headers of a provider are the same for all' }
const KEYS: Advice = { kind: 'do', message: 'callers are known by keys of the gateway (POST /api/v1/keys): no other tokens are read' }
const SECRETS: Advice = { kind: 'do', message: 'secrets are variables of the environment in which the gateway starts' }
const NETWORK: Advice = { kind: 'do', message: 'what stands before the gateway says who may reach it (docs/guides/operations.md)' }
const UNSERVED: Advice = { kind: 'do', message: 'files, batches, fine-tuning, assistants and vector stores are not served' }
const ALERTS: Advice = { kind: 'do', message: 'metrics at /metrics, rules for Prometheus in deploy/alerts.yaml' }
const DEFAULTS_OF_KEYS: Advice = {
  kind: 'do',
  message:
    'limits of keys are said when they are made; limits.* of the file holds for keys without one of their own, a budget of a workspace for all in it',
}
const BUDGETS: Advice = { kind: 'do', message: 'budgets are those of keys (limit, limit_reset), workspaces and of the installation (limits.credits)' }

/** Notes on parameters of entries and of the credentials that they name. */
const PARAMS: { readonly [param: string]: Advice } = {
  api_version: { kind: 'fine', message: 'not needed: the current version of the API is asked' },
  num_retries: RELIABILITY,
  max_retries: RELIABILITY,
  cooldown_time: RELIABILITY,
  drop_params: { kind: 'fine', message: 'always so, and told in the metadata' },
  additional_drop_params: { kind: 'do', message: 'unsupported of the endpoint takes parameters away' },
  allowed_openai_params: {
    kind: 'fine',
    message: 'what an endpoint takes is known; supports of the endpoint says otherwise',
  },
  temperature: PRESET,
  top_p: PRESET,
  max_tokens: PRESET,
  max_completion_tokens: PRESET,
  seed: PRESET,
  stop: PRESET,
  reasoning_effort: PRESET,
  thinking: PRESET,
  tools: PRESET,
  response_format: PRESET,
  service_tier: PRESET,
  metadata: PRESET,
  extra_body: PRESET,
  cache_control_injection_points: {
    kind: 'do',
    message: 'defaults.prompt_caching: 5m marks conversations for callers who mark nothing (docs/guides/costs.md#prompt-caches)',
  },
  region_name: { kind: 'do', message: 'provider.only of a request, a preset or a guardrail says which endpoints may serve' },
  stream: { kind: 'fine', message: 'the caller says it; from providers it streams either way' },
  tags: {
    kind: 'do',
    message: 'no routing by tags: give the deployments names of their own, or guardrails that allow a key its providers',
  },
  max_budget: BUDGETS,
  budget_duration: BUDGETS,
  azure_ad_token: {
    kind: 'do',
    message: 'Azure needs a key of the resource; tokens of Entra ID are not converted',
  },
  tenant_id: { kind: 'do', message: 'Azure needs a key of the resource; tokens of Entra ID are not converted' },
  client_id: { kind: 'do', message: 'Azure needs a key of the resource; tokens of Entra ID are not converted' },
  client_secret: {
    kind: 'do',
    message: 'Azure needs a key of the resource; tokens of Entra ID are not converted',
  },
  aws_role_name: ROLES,
  aws_session_name: ROLES,
  aws_profile_name: ROLES,
  aws_web_identity_token: ROLES,
  mock_response: { kind: 'do', message: 'demo/echo answers without any provider' },
}

const within = (path: string, advice: { readonly [param: string]: Advice }): { readonly [path: string]: Advice } =>
  Object.fromEntries(Object.entries(advice).map(([param, text]) => [`${path}.${param}`, text]))

/** Notes on settings that are not imported, by path. */
export const ADVICE: { readonly [path: string]: Advice } = {
  ...within('model_list[].litellm_params', PARAMS),
  ...within('credential_list[].credential_values', PARAMS),
  'model_list[].model_info.id': { kind: 'fine', message: 'records name the provider and the id that it knows the model by' },
  'model_list[].model_info.description': { kind: 'do', message: 'description of the model, as lists show it' },
  'model_list[].model_info.access_groups': TEAMS,
  'model_list[].model_info.access_via_team_ids': TEAMS,
  'model_list[].model_info.team_id': TEAMS,
  'model_list[].model_info.team_public_model_name': TEAMS,
  'router_settings.num_retries': RELIABILITY,
  'router_settings.retry_after': RELIABILITY,
  'router_settings.retry_policy': RELIABILITY,
  'router_settings.model_group_retry_policy': RELIABILITY,
  'router_settings.allowed_fails': RELIABILITY,
  'router_settings.allowed_fails_policy': RELIABILITY,
  'router_settings.cooldown_time': RELIABILITY,
  'router_settings.max_fallbacks': RELIABILITY,
  'router_settings.enable_pre_call_checks': { kind: 'fine', message: 'always so: endpoints whose context is too small are passed over' },
  'router_settings.routing_strategy_args': { kind: 'fine', message: 'nothing to set' },
  'router_settings.enable_tag_filtering': {
    kind: 'do',
    message: 'no routing by tags: names of their own, or guardrails that allow a key its providers',
  },
  'router_settings.provider_budget_config': {
    kind: 'do',
    message: 'no budget of a provider: those of keys and workspaces, or limits.credits for all',
  },
  'router_settings.default_max_parallel_requests': { kind: 'do', message: 'rate_limits.concurrent_requests of providers or endpoints' },
  'router_settings.default_litellm_params': PRESET,
  'router_settings.optional_pre_call_checks': {
    kind: 'fine',
    message: 'nothing to set: a session stays with its endpoint, and limits of endpoints are kept to',
  },
  'router_settings.assistants_config': UNSERVED,
  'router_settings.redis_url': REDIS,
  'router_settings.redis_host': REDIS,
  'router_settings.redis_port': REDIS,
  'router_settings.redis_password': REDIS,
  'router_settings.cache_responses': CACHE,
  'router_settings.set_verbose': LOGS,
  'router_settings.debug_level': LOGS,
  'litellm_settings.num_retries': RELIABILITY,
  'litellm_settings.allowed_fails': RELIABILITY,
  'litellm_settings.cooldown_time': RELIABILITY,
  'litellm_settings.cache': CACHE,
  'litellm_settings.cache_params': CACHE,
  'litellm_settings.enable_caching_on_provider_specific_optional_params': CACHE,
  'litellm_settings.set_verbose': LOGS,
  'litellm_settings.json_logs': LOGS,
  'litellm_settings.modify_params': { kind: 'fine', message: 'always so: what a provider would refuse is put into its words' },
  'litellm_settings.max_budget': BUDGETS,
  'litellm_settings.budget_duration': BUDGETS,
  'litellm_settings.max_parallel_requests': {
    kind: 'do',
    message: 'limits.concurrent_requests, of keys without one of their own; overload.calls of a process',
  },
  'litellm_settings.default_internal_user_params': DEFAULTS_OF_KEYS,
  'litellm_settings.default_team_params': DEFAULTS_OF_KEYS,
  'litellm_settings.default_key_generate_params': DEFAULTS_OF_KEYS,
  'litellm_settings.upperbound_key_generate_params': DEFAULTS_OF_KEYS,
  'litellm_settings.max_internal_user_budget': BUDGETS,
  'litellm_settings.internal_user_budget_duration': BUDGETS,
  'litellm_settings.max_end_user_budget': BUDGETS,
  'litellm_settings.max_user_budget': BUDGETS,
  'litellm_settings.tag_budget_config': BUDGETS,
  'litellm_settings.forward_traceparent_to_llm_provider': { kind: 'do', message: 'trace_context of a provider' },
  'litellm_settings.ssl_verify': { kind: 'do', message: 'certificates are always checked; NODE_EXTRA_CA_CERTS names a file with more authorities' },
  'litellm_settings.langfuse_default_tags': { kind: 'do', message: 'metadata of a request is told to destinations' },
  'litellm_settings.default_team_settings': { kind: 'do', message: 'a workspace each, with destinations of its own' },
  'litellm_settings.guardrails': { kind: 'do', message: 'guardrails (docs/guides/guardrails.md)' },
  'litellm_settings.mcp_aliases': { kind: 'do', message: 'MCP servers are named in a request or a preset (docs/guides/mcp.md)' },
  'general_settings.database_url': DATABASE,
  'general_settings.database_connection_pool_limit': { kind: 'fine', message: 'nothing to set' },
  'general_settings.database_connection_timeout': { kind: 'fine', message: 'nothing to set' },
  'general_settings.allow_requests_on_db_unavailable': { kind: 'fine', message: 'always so: no inference waits for the database' },
  'general_settings.proxy_batch_write_at': { kind: 'fine', message: 'nothing to set: records are written in batches' },
  'general_settings.store_model_in_db': { kind: 'do', message: 'models are those of the file: what LiteLLM keeps in its database is not carried' },
  'general_settings.store_prompts_in_spend_logs': { kind: 'do', message: 'a workspace says whether prompts are kept (docs/guides/workspaces.md)' },
  'general_settings.disable_spend_logs': {
    kind: 'do',
    message: 'every call is recorded, without what was said; retention.generations says for how long',
  },
  'general_settings.maximum_spend_logs_retention_period': { kind: 'do', message: 'retention.generations' },
  'general_settings.master_key': {
    kind: 'do',
    message:
      'as SIGNALBOX_API_KEY it is the key that callers have now; SIGNALBOX_MANAGEMENT_KEY, another one, manages (keys that LiteLLM made are in its database: POST /api/v1/keys makes new ones)',
  },
  'general_settings.max_parallel_requests': { kind: 'do', message: 'rate_limits.concurrent_requests of providers or endpoints' },
  'general_settings.global_max_parallel_requests': { kind: 'do', message: 'overload.calls, of each process' },
  'general_settings.alerting': ALERTS,
  'general_settings.alert_types': ALERTS,
  'general_settings.alert_to_webhook_url': ALERTS,
  'general_settings.enable_jwt_auth': KEYS,
  'general_settings.litellm_jwtauth': KEYS,
  'general_settings.custom_auth': KEYS,
  'general_settings.enforce_user_param': { kind: 'do', message: 'user of a request stands in its record, and nothing asks for it' },
  'general_settings.user_header_name': { kind: 'do', message: 'user of a request, or X-Gateway-Metadata, says who calls (docs/guides/clients.md)' },
  'general_settings.forward_client_headers_to_llm_api': HEADERS,
  'general_settings.key_management_system': SECRETS,
  'general_settings.key_management_settings': SECRETS,
  'general_settings.allowed_ips': NETWORK,
  'general_settings.allowed_routes': NETWORK,
  'general_settings.public_routes': NETWORK,
  'general_settings.use_x_forwarded_for': NETWORK,
  'general_settings.alerting_threshold': ALERTS,
  'general_settings.background_health_checks': { kind: 'fine', message: 'nothing to set: health is what calls show' },
  'general_settings.health_check_interval': { kind: 'fine', message: 'nothing to set: health is what calls show' },
  'general_settings.pass_through_endpoints': {
    kind: 'do',
    message: 'nothing is passed through as it is; other formats than those of the front doors are not served',
  },
  files_settings: UNSERVED,
  finetune_settings: UNSERVED,
  vector_store_registry: UNSERVED,
  prompts: { kind: 'do', message: 'presets hold parts of requests, without templates (docs/guides/presets.md)' },
  guardrails: { kind: 'do', message: 'guardrails (docs/guides/guardrails.md), or guardrails.rules of the file' },
  mcp_servers: { kind: 'do', message: 'MCP servers are named in a request or a preset (docs/guides/mcp.md)' },
  callback_settings: { kind: 'do', message: 'the config of a destination (docs/reference/destinations.md)' },
  search_tools: { kind: 'do', message: 'tools.web_search of the file (docs/guides/server-tools.md)' },
  include: { kind: 'lost', message: 'no list of files: LiteLLM itself would not start with it' },
}

const STRATEGIES: { readonly [strategy: string]: string | undefined } = {
  'latency-based-routing': 'latency',
  'cost-based-routing': 'price',
  'lowest-latency': 'latency',
}

const isSet = (value: number | string | undefined): boolean => value !== undefined

/** The timeouts for providers whose entries state none. */
export function patienceOf(root: SourcePart): Patience {
  const [router, library] = [root.at('router_settings'), root.at('litellm_settings')]
  const [own, general] = [router.at('timeout'), library.at('request_timeout')]
  if (own.exists && general.exists) general.note('fine', 'router_settings.timeout wins')
  return {
    ...defined({
      total: [own, general].map(wholeOf).find(isSet),
      firstToken: [router.at('stream_timeout'), library.at('stream_timeout')].map(secondsOf).find(isSet),
    }),
  }
}

/** The sections of our file that follow from settings of the proxy. */
export function sectionsOf(root: SourcePart, isServed: (name: string) => boolean): { readonly [section: string]: object } {
  const [router, library, general] = [root.at('router_settings'), root.at('litellm_settings'), root.at('general_settings')]
  const retries = [router, library].map((section) => section.at('num_retries')).find(({ exists }) => exists)
  const model = general.at('completion_model')
  const megabytes = amountOf(general.at('max_request_size_mb'))
  const routing = defined({
    retries: retries?.value === 0 ? retries.take() === 0 && false : undefined,
    cooldown: router.at('disable_cooldowns').flag() === true ? false : undefined,
  })
  noteSettings(router, library)
  return {
    ...(megabytes === undefined ? {} : { server: { body_limit: `${megabytes}MB` } }),
    ...(model.exists && isServed(String(model.value)) ? { defaults: { model: model.text() } } : {}),
    ...(Object.keys(routing).length === 0 ? {} : { routing }),
    ...(library.at('turn_off_message_logging').flag() === true ? { destinations: { privacy_locked: true } } : {}),
  }
}

function noteSettings(router: SourcePart, library: SourcePart): void {
  const strategy = router.at('routing_strategy')
  const sort = STRATEGIES[String(strategy.value)]
  if (strategy.value === 'simple-shuffle') strategy.take()
  else if (sort !== undefined) strategy.note('do', `default_provider_sort: ${sort} of a workspace, or provider.sort of a request or a preset`)
  else if (strategy.exists) strategy.note('fine', 'nothing to set: limits of endpoints, health and running calls count')
  const drops = library.at('drop_params')
  if (drops.exists && drops.flag() === false)
    drops.note(
      'do',
      'what an endpoint has no place for is left out and told; provider.require_parameters: true of a request asks for endpoints that have it',
    )
  for (const list of ['callbacks', 'success_callback', 'failure_callback', 'service_callbacks'].map((name) => library.at(name)))
    for (const callback of list.isList ? list.items() : [list]) noteCallback(callback)
}

function noteCallback(callback: SourcePart): void {
  if (!callback.exists) return
  const name = String(callback.value)
  const type = Object.hasOwn(CALLBACKS, name) ? CALLBACKS[name] : undefined
  if (name === 'prometheus') callback.note('fine', 'metrics are at /metrics')
  else if (GUARDS.has(name)) callback.note('do', 'guardrails (docs/guides/guardrails.md)')
  else if (type !== undefined) callback.note('do', `a destination of type ${type}, registered while it runs (docs/guides/destinations.md)`)
  else callback.note('do', `${JSON.stringify(name)} is no type of destination: webhook and otel-collector reach most (docs/guides/destinations.md)`)
}
