import type { Advice } from '../shared/source-part.ts'

const toDo = (message: string): Advice => ({ kind: 'do', message })
const RELIABILITY: Advice = { kind: 'fine', message: 'nothing to set: failover, retries and cooldown need no numbers (docs/guides/reliability.md)' }
const GUARDRAILS = toDo('guardrails (docs/guides/guardrails.md), or guardrails.rules of the file')
const PRESET = toDo('a request or a preset says it (POST /api/v1/presets)')
const ENTRA = toDo('Azure needs a key of the resource; tokens of Entra ID are not converted')
const STICKY: Advice = { kind: 'fine', message: 'nothing to set: calls with one session_id stay with their endpoint (docs/guides/clients.md)' }
const VERSION: Advice = { kind: 'fine', message: 'not needed: the current version of the API is asked' }

const TARGET: { readonly [member: string]: Advice } = {
  retry: RELIABILITY,
  cache: toDo(
    'answers are kept for requests with X-Gateway-Cache: true, or of a preset with cache_enabled, and for identical ones only (docs/guides/answer-cache.md)',
  ),
  'strategy.on_status_codes': toDo('another endpoint is asked after any failure that it may help with (docs/guides/reliability.md)'),
  'strategy.sticky': STICKY,
  'strategy.sticky_session': STICKY,
  name: { kind: 'fine', message: 'counts where conditions choose among targets' },
  drop_params: { kind: 'fine', message: 'always so, and told in the metadata' },
  default_input_guardrails: GUARDRAILS,
  default_output_guardrails: GUARDRAILS,
  input_guardrails: GUARDRAILS,
  output_guardrails: GUARDRAILS,
  before_request_hooks: GUARDRAILS,
  after_request_hooks: GUARDRAILS,
  forward_headers: toDo('no header of a caller reaches a provider; headers of the provider are the same for all'),
  override_params: PRESET,
  'override_params.frequency_penalty': PRESET,
  'override_params.metadata': PRESET,
  'override_params.presence_penalty': PRESET,
  'override_params.service_tier': PRESET,
  'override_params.temperature': PRESET,
  'override_params.thinking': PRESET,
  'override_params.tool_choice': PRESET,
  'override_params.top_k': PRESET,
  'override_params.user': PRESET,
  'override_params.top_p': PRESET,
  'override_params.max_tokens': PRESET,
  'override_params.max_completion_tokens': PRESET,
  'override_params.seed': PRESET,
  'override_params.stop': PRESET,
  'override_params.reasoning_effort': PRESET,
  'override_params.tools': PRESET,
  'override_params.response_format': PRESET,
  metadata: toDo('metadata of the request'),
  strict_open_ai_compliance: { kind: 'fine', message: 'nothing to set: answers are of one form' },
  api_version: VERSION,
  azure_api_version: VERSION,
  azure_auth_mode: ENTRA,
  azure_entra_client_id: ENTRA,
  azure_entra_client_secret: ENTRA,
  azure_entra_tenant_id: ENTRA,
  azure_ad_token: ENTRA,
  anthropic_beta: toDo('callers ask for beta features, in anthropic-beta (docs/guides/messages.md)'),
  anthropic_version: VERSION,
  prompt_id: toDo('presets hold parts of requests, without templates (docs/guides/presets.md)'),
  aws_role_arn: toDo('keys or a bearer token are needed: roles are not assumed'),
  aws_auth_type: toDo('keys or a bearer token are needed: roles are not assumed'),
  openai_project: toDo('a header of the provider (headers)'),
}

/** Notes on settings that are not imported, for a config or for the targets at the path. */
export const adviceAt = (path: string): { readonly [path: string]: Advice } =>
  Object.fromEntries(Object.entries(TARGET).map(([member, text]) => [path === '' ? member : `${path}.${member}`, text]))
