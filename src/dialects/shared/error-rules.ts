import type { ErrorDetails, ErrorType } from '../../core/error.ts'
import { isModelParam, type ErrorFacts } from './error-body.ts'
import { ownWords } from './own-words.ts'

export interface ErrorCase {
  /** HTTP status of the answer, or named by the body; 0 if neither says one. */
  readonly status: number
  readonly facts: ErrorFacts
}

export interface Verdict {
  readonly type: ErrorType
  readonly failover?: ErrorDetails['failover']
  readonly publicCode?: string
  readonly credentialDead?: boolean
}

/** A rule matches by one of its codes, one of its statuses, or its text; `when` is an additional condition. The first match decides. */
interface Rule extends Verdict {
  readonly codes?: RegExp
  readonly statuses?: readonly number[]
  readonly text?: RegExp
  readonly when?: (error: ErrorCase) => boolean
}

const isThrottle = ({ status, facts }: ErrorCase): boolean =>
  status === 429 ||
  hasCode(facts, /throttl|rate_?limit|too_many_requests/) ||
  /per (?:minute|min|day|hour|second)|rate.?limit|please wait/i.test(facts.message)
const notThrottle = (error: ErrorCase): boolean => !isThrottle(error)
const clientSide = ({ status }: ErrorCase): boolean => status < 500
const badRequest = ({ status }: ErrorCase): boolean => status === 400 || status === 422 || status === 0 || status === 501
const aboutModel = ({ facts }: ErrorCase): boolean =>
  /access to (?:the |this )?model|model.{0,60}(?:not (?:available|enabled|allowed|permitted)|access)|not (?:available|supported) in your (?:region|country)|country_region/i.test(
    `${facts.message} ${[...facts.codes].join(' ')}`,
  )

function hasCode(facts: ErrorFacts, pattern: RegExp): boolean {
  for (const code of facts.codes) if (pattern.test(code)) return true
  return false
}

const CONTEXT_TEXT =
  /prompt (?:is )?too long|max_tokens must be at least 1, got -\d|(?:maximum|max(?:imum)? model|model'?s) context (?:length|window|size)|exceed\w* (?:the |its |this model(?:'?s)? )?(?:available |max(?:imum)? )?context|context (?:length|window|size|limit)\w* (?:is |was |has been )?exceed(?:ed|s)|exceeds the context window|max context length|too many (?:prompt |input )?tokens\b|input tokens exceeded|(?:input|prompt) token count.{0,40}exceeds|(?:length of (?:all )?messages|input (?:is|was|text|length|tokens?)|prompt length|number of input tokens).{0,60}(?:too long|exceeds? (?:the )?(?:max|model|limit|context))|larger than (?:the )?max(?:imum)? context|reduce the length of (?:the )?(?:messages|prompt|input|either)|total number of tokens.{0,60}exceed|does not fit (?:in|into) the context|exceed\w* model token limit|greater than the context (?:length|window|size)|context length of only \d|maximum prompt length is|prompt exceeds max(?:imum)? length|prompt tokens? too long|range of input length should be|exceeds? max message tokens|prompt_tokens\b.{0,40}max_seq_len|inputs\b.{0,3} must have less than \d+ tokens|inputs\b.{0,3} tokens \+ .{0,3}max_new_tokens\b|token count is [\d,]+ but (?:the )?model only supports|longer than the maximum model length|(?:configured context size is|maximum input length of) [\d,]+ tokens|input is too large to process|maximum number of input tokens|prompt 超长/i

const PAYMENT_TEXT =
  /insufficient[ _](?:account[ _])?(?:balance|credits?|funds|quota)|credit balance is too low|used all (?:of )?(?:your |its )?available credits|(?:monthly|hard) (?:spending|billing|usage) limit|spending limit|(?:requires?|need) more credits|does ?n[o']t have any credits|(?:out of|not enough|no) credits?\b(?! (?:was|were|have been|has been) (?:charged|used|deducted))|billing (?:is )?not (?:active|enabled)|account (?:is )?(?:overdue|in arrears|not active)|arrearage|payment (?:is )?required|recharge|reached your (?:specified|monthly) (?:workspace )?(?:api )?usage limits?|organization has been disabled|credits are depleted|monthly spending cap|overdue balance|balance is insufficient|余额不足|欠费/i

const AUTH_TEXT =
  /(?:incorrect|invalid|wrong|missing|no|expired|revoked|malformed|bad) (?:or (?:missing|expired|invalid) )?(?:x-)?(?:api|subscription|authentication|authorization|auth|access|bearer)[ _-]?(?:key|token|header|credentials?)|api[ _-]?key (?:is |was )?(?:not valid|invalid|missing|expired|required|not found)|security token included in the request is|authentication (?:fails?|failed|error|is required|required)|request signature we calculated|invalid x-api-key|could not (?:authenticate|validate credentials)|you didn'?t provide an api key/i

const POLICY_TEXT =
  /content[ _](?:management |filter(?:ing)? )?polic(?:y|ies)|content[ _]?filter|(?:violat\w+|against|breach\w*) .{0,40}(?:usage (?:polic|guideline)|polic(?:y|ies)|guidelines|terms of (?:use|service)|safety)|(?:input|prompt|content|request|image|output) .{0,30}(?:flagged|blocked) .{0,20}(?:by|as|for|due|because)|\b(?:input|prompt|content|request|message)s? (?:was|were|has been|have been) flagged\b|safety (?:system|filter|check|reasons)|inappropriate content|responsible ?ai|prohibited content|data[ _]inspection(?! process)|sensitive (?:content|words?)|content exists risk|\bnew_sensitive\b|敏感内容/i

const UNSUPPORTED_TEXT =
  /unsupported (?:parameter|value|field|option|argument|feature|content|role|tool|mime type)|unrecognized (?:request )?(?:argument|parameter|field|key)|unknown (?:parameter|field|argument|name|key)|(?:extra|additional) (?:inputs?|fields?|properties|arguments?) (?:are |is )?not (?:permitted|allowed)|unexpected (?:keyword )?(?:argument|parameter|field|property)|(?:is|are|was) (?:not|no longer) (?:currently )?(?:supported|available|allowed|permitted|implemented)|(?:does|do)(?: not|n'?t) (?:currently )?(?:support|allow|accept)|(?:is|are) deprecated for this model|not (?:supported|implemented|available) (?:by|with|for|on|in) |isn'?t supported|cannot find field|only supported (?:by|with|on|in|for)|unable to (?:use|handle) .{0,40}tool|enable-auto-tool-choice|is not enabled for this|failed to parse grammar|json schema conversion failed|unable to generate parser|reference to undefined schema|rendering prompt with jinja/i

/** The model's template does not accept such a conversation. Some servers report that like a crash; others have another template. */
const TEMPLATE_TEXT = /system message must be (?:at the beginning|the first)|\broles must alternate|system role (?:is )?not supported/i

const PROMPT_PATH = /^(?:messages|input|contents|prompt)\b/

/** Things that a request refers to by id, in the account that made them. */
const REFERENCE_TEXT =
  /\b(?:prompt|item|file|vector[ _]?store|container|conversation|cached ?content)s?\b.{0,120}(?:not found|does ?n[o']t exist)|no such (?:prompt|file|vector[ _]?store|container)\b/i

/** The order matters: what a body says comes before its status, and specific rules before general ones. */
const RULES: readonly Rule[] = [
  {
    type: 'context_length_exceeded',
    codes:
      /^(?:context_(?:length|window)_exceeded|model_context_window_exceeded|exceed_context_size_error|too_many_(?:prompt_|input_)?tokens|string_too_many_tokens|max_context_length_exceeded|input_too_long|prompt_too_long|context_overflow|model_max_prompt_tokens_exceeded|tokens_limit_reached)$/,
    text: CONTEXT_TEXT,
    when: notThrottle,
  },
  {
    type: 'payment_required',
    codes:
      /^(?:not_enough_balance|insufficient_(?:quota|balance|credits?|funds|user_quota)|billing_(?:error|hard_limit_reached|not_active)|exceeded_current_quota_error|payment_required|arrearage|credits?_exhausted|blocked_api_access|usage_not_included|account_deactivated|out_of_credits?|credit_balance_exhausted|accountoverdueerror|(?:contract|enforced|organization|project|workspace)_(?:spend|usage)_limit_(?:reached|exceeded))$/,
    statuses: [402],
    credentialDead: true,
  },
  { type: 'payment_required', text: PAYMENT_TEXT, when: clientSide, credentialDead: true },
  {
    type: 'payment_required',
    text: /exceeded your current quota/i,
    when: ({ facts }) => !hasCode(facts, /resource_exhausted|rate_limit/),
    credentialDead: true,
  },
  {
    type: 'authentication',
    codes:
      /^(?:invalid_api_key|incorrect_api_key|api_key_(?:invalid|expired|missing)|(?:invalid_)?authentication(?:_error|_failed)?|unauthenticated|unauthorized|authenticationerror|unrecognizedclientexception|invalidsignatureexception|expiredtokenexception|missingauthenticationtokenexception|invalidclienttokenid|token_expired|invalid_token|access_token_(?:expired|invalid|type_unsupported)|no_api_key|\w*key_creator_not_member)$/,
    statuses: [401],
    credentialDead: true,
  },
  { type: 'authentication', text: AUTH_TEXT, when: clientSide, credentialDead: true },
  { type: 'content_policy_violation', codes: /image_content_policy_violation|image_safety/, publicCode: 'image_content_policy_violation' },
  {
    type: 'content_policy_violation',
    codes:
      /^(?:content_policy|content_filter(?:ed)?|content_filtering_policy|contentfilter|moderation(?:_blocked|_error)?|data_inspection_?failed|datainspectionfailed|responsibleaipolicyviolation|cyber_policy|bio_policy|prohibited_content|safety|content_blocked|sensitive_content|blocklist|guardrail_intervened|content_moderation|(?:(?!workspace|organization|account|project)\w+_)?policy_violation|error_toxic|flagged_input|\w*sensitivecontentdetected\w*|\w*riskdetection)$/,
  },
  { type: 'content_policy_violation', text: POLICY_TEXT, when: (error) => clientSide(error) && notThrottle(error) },
  // The server checked its model's output and found it broken: another try may do better, and the caller did nothing wrong.
  {
    type: 'provider_unavailable',
    codes:
      /^(?:tool_use_failed|json_validate_failed|output_parse_failed|failed_generation|modelerrorexception|malformed_(?:tool_use|model_output|function_call|response))$/,
  },
  {
    type: 'provider_unavailable',
    text: /^(?:function id \S+ degraded function cannot be invoked|no models loaded|failed to load model)/i,
    failover: 'next',
  },
  // A local server reports an unloaded model as a bad request; when asked again, it loads it.
  { type: 'provider_unavailable', text: /^(?:model (?:is )?unloaded|the model has crashed|channel error)/i },
  {
    type: 'provider_overloaded',
    codes:
      /overload|^(?:slow_down|insufficient_system_resource|capacity_exceeded|model_?not_?ready(?:exception)?|service_?unavailable(?:exception|_error)?|unavailable|no_capacity|model_cold|model_loading)$/,
  },
  {
    type: 'provider_overloaded',
    text: /overloaded|(?:at|over|exceed\w*|insufficient|out of) (?:the )?(?:max(?:imum)? )?capacity|no (?:available |healthy )?(?:capacity|workers?|instances?)|currently (?:loading|unavailable|experiencing)|server (?:is )?(?:too )?busy|model is (?:still )?loading/i,
    when: ({ status }) => status === 0 || status === 429 || status === 498 || status >= 500,
  },
  {
    type: 'rate_limit_exceeded',
    codes:
      /^(?:rate_?limit(?:_exceeded|_error|_reached|ed|reached|exceeded)?|too_many_requests(?:_error|exception)?|throttl\w*|toomanyrequests(?:exception)?|resource_exhausted|servicequotaexceeded(?:exception)?|requests|tokens|quota_exceeded|tpm_exceeded|rpm_exceeded)$/,
    statuses: [429],
  },
  { type: 'rate_limit_exceeded', text: /rate.?limit(?:ed| (?:reached|exceeded|hit))|^rate.?limit$|too many requests/i, when: clientSide },
  {
    type: 'image_download_failed',
    codes: /^(?:failed_to_download_image|image_download_failed|invalid_image_url)$/,
    text: /(?:failed|unable|could not|cannot|error|timeout)\b.{0,30}(?:download|fetch|retriev)\w*.{0,60}(?:image|url|file|content|media)/i,
    when: badRequest,
  },
  {
    type: 'image_too_large',
    codes: /^image_(?:file_|dimensions_)?too_large$/,
    text: /image.{0,60}(?:too large|exceeds? .{0,20}(?:mb|maximum|limit|size)|dimensions? exceed)/i,
    when: clientSide,
  },
  { type: 'image_too_small', codes: /^image_too_small$/, text: /image.{0,40}too small/i, when: clientSide },
  { type: 'image_not_found', codes: /^image_(?:file_)?not_found$/ },
  {
    type: 'unsupported_image_format',
    codes: /^(?:unsupported_image_(?:media_type|format)|invalid_image_format)$/,
    text: /unsupported (?:mime type: )?image|image (?:format|type|media type).{0,40}(?:not|un)\s?supported/i,
    when: clientSide,
  },
  {
    type: 'invalid_image',
    codes: /^(?:invalid_(?:base64_)?image|image_parse_error|empty_image_file|invalid_image_mode)$/,
    text: /(?:could not|unable to) process (?:the )?(?:input )?image|image is not valid|invalid (?:base64 )?image|(?:decode|parse|identify) (?:the )?image/i,
    when: clientSide,
  },
  {
    type: 'max_tokens_exceeded',
    codes: /^max_tokens_exceeded$/,
    text: /(?:valid )?range of max_tokens (?:should be|is)|max(?:imum)?[_ ]?(?:completion_|output_|new_|completion |output )?_?tokens\b.{0,80}(?:too (?:large|high|many|big)|exceed|greater than|at most|less than or equal|cannot be more|must be (?:less|at most|no more|below|<)|out of range| > )/i,
    when: badRequest,
  },
  {
    type: 'token_limit_exceeded',
    codes: /^token_limit_exceeded$/,
    text: /token limit (?:was )?(?:reached|exceeded)/i,
    when: (error) => clientSide(error) && notThrottle(error),
  },
  { type: 'string_too_long', codes: /^(?:string_above_max_length|string_too_long|array_above_max_length)$/, when: clientSide },
  // A file or item that is missing says nothing about the model, which is there for everybody else.
  {
    type: 'invalid_request',
    text: REFERENCE_TEXT,
    when: ({ status, facts }) => status === 404 && facts.kind === 'json' && !/model|deployment|endpoint/i.test(facts.message),
    failover: 'next',
  },
  {
    type: 'not_found',
    codes:
      /^(?:model_not_found|model_not_exist|invalid_model|not_found(?:_error)?|resourcenotfound(?:exception)?|deploymentnotfound|unknown_model|model_not_available|model_decommissioned|model_terms_required|model_not_supported)$/,
    statuses: [404, 405, 410],
  },
  {
    type: 'not_found',
    text: /(?:model|deployment)\b.{0,120}(?:does ?n[o']t exist|not exist|not found|is not (?:a )?valid|has been (?:deprecated|decommissioned|removed|shut down))|(?:invalid|unknown|no such) model\b|not a valid model|the provided model identifier is invalid|^invocation of model id \S+ with on-demand throughput isn.t supported/i,
    when: badRequest,
  },
  // The caller cannot change where the gateway runs or whose account it uses.
  {
    type: 'permission_denied',
    codes: /^(?:data_residency_mismatch|(?:workspace|organization|account|project)_policy_violation)$/,
    text: /^operation not allowed\.?$|user location is not supported|not (?:yet )?(?:available|supported) in (?:your|this) (?:country|region|location|territory)/i,
    when: clientSide,
  },
  {
    type: 'permission_denied',
    codes: /^(?:permission_(?:denied|error)|forbidden|access_?denied(?:exception)?|unsupported_country_region_territory)$/,
    statuses: [403],
    when: (error) => aboutModel(error) || error.facts.kind === 'html',
  },
  {
    type: 'permission_denied',
    codes:
      /^(?:permission_(?:denied|error)|forbidden|access_?denied(?:exception)?|organization_(?:on_hold|restricted)|cmek_key_(?:disabled|network_blocked))$/,
    statuses: [403],
    credentialDead: true,
  },
  {
    type: 'timeout',
    codes: /^(?:timeout(?:_error)?|request_timeout|deadline_exceeded|modeltimeoutexception|gateway_timeout|error_timeout)$/,
    statuses: [408, 504, 522, 524],
  },
  {
    type: 'payload_too_large',
    codes: /^(?:request_too_large|payload_too_large|request_entity_too_large)$/,
    statuses: [413],
    text: /^request payload size exceeds the limit/i,
  },
  { type: 'provider_overloaded', statuses: [503, 529] },
  // A blob from another organisation or a rotated key: other endpoints get the history without it.
  { type: 'invalid_request', codes: /^(?:invalid_encrypted_content|thinking_signature_invalid)$/, failover: 'next' },
  // This endpoint lacks something that another may have.
  {
    type: 'invalid_request',
    codes:
      /^(?:unsupported_(?:parameter|value|feature|content_type|role)|unknown_parameter|extra_forbidden|unsupported|not_supported|unimplemented|not_implemented|operationnotsupported)$/,
    text: UNSUPPORTED_TEXT,
    when: badRequest,
    failover: 'next',
  },
  { type: 'invalid_prompt', text: TEMPLATE_TEXT, when: (error) => badRequest(error) || error.status === 500, failover: 'next' },
  {
    type: 'invalid_prompt',
    codes: /^invalid_prompt$/,
    text: /no tool (?:output|call) found|tool_call_ids? (?:did|do) not have|tool_(?:use|result).{0,80}(?:without|must|missing)|messages? with role '?tool|roles? must alternate|must be non-?empty|unexpected role/i,
    when: badRequest,
    failover: 'next-model',
  },
  { type: 'invalid_prompt', statuses: [400], when: ({ facts }) => PROMPT_PATH.test(facts.param ?? ''), failover: 'next-model' },
  // The API did not answer: a proxy did, or the server could not even say what it rejected.
  { type: 'provider_unavailable', statuses: [400, 422], when: ({ facts }) => facts.kind === 'html', failover: 'next' },
  { type: 'invalid_request', statuses: [400], when: ({ facts }) => facts.kind === 'empty', failover: 'next' },
  { type: 'unprocessable', statuses: [422], failover: 'next-model' },
  // A conflict within the server: a call cannot be in conflict with anything.
  { type: 'provider_unavailable', statuses: [409], failover: 'next' },
  // The vendor gave the call up; our caller is still waiting.
  { type: 'provider_unavailable', codes: /^cancell?ed$/, statuses: [499], failover: 'next' },
  {
    type: 'invalid_request',
    statuses: [400],
    codes: /^(?:invalid_request(?:_error)?|invalid_argument|validationexception|bad_request|invalid_parameter_?(?:error)?|invalid_value)$/,
    when: clientSide,
    failover: 'next-model',
  },
  { type: 'provider_unavailable', statuses: [501], failover: 'next' },
]

/**
 * What is said about the operator's account, a model or an endpoint holds for other callers, too, so no request may cause it by having its own text
 * quoted in a refusal.
 */
const CONCERNS_ALL: ReadonlySet<ErrorType> = new Set([
  'payment_required',
  'authentication',
  'permission_denied',
  'not_found',
  'rate_limit_exceeded',
  'provider_overloaded',
])

/** Whether the body names a field of the request, other than the model, as what is wrong. */
const blamesField = (error: ErrorCase): boolean => badRequest(error) && error.facts.param !== undefined && !isModelParam(error.facts.param)

function matches(rule: Rule, error: ErrorCase): boolean {
  if (rule.when !== undefined && !rule.when(error)) return false
  if (rule.statuses?.includes(error.status)) return true
  const quotesRequest = CONCERNS_ALL.has(rule.type) && blamesField(error)
  // A code is the vendor's own, whatever the message quotes; the missing model may be named only by the field.
  if (quotesRequest && rule.type === 'not_found') return false
  if (rule.codes !== undefined && hasCode(error.facts, rule.codes)) return true
  if (rule.text === undefined || quotesRequest) return false
  if (!CONCERNS_ALL.has(rule.type)) return rule.text.test(error.facts.message)
  // Messages about a missing model quote its name, and often those of others.
  return rule.text.test(rule.type === 'not_found' ? error.facts.message : ownWords(error.facts.message))
}

/**
 * The first rule that matches. What no rule knows is the caller's fault below 500, and the upstream's above or without a status. Nobody can tell a
 * request that is wrong everywhere from one that only this vendor rejects, so another model may be asked if the caller named one.
 */
export function matchRule(error: ErrorCase): Verdict {
  for (const rule of RULES) if (matches(rule, error)) return rule
  if (error.status >= 400 && error.status < 500) return { type: 'invalid_request', failover: error.status === 400 ? 'next-model' : 'next' }
  return { type: 'provider_unavailable', ...(error.status > 0 && error.status < 500 ? { failover: 'next' as const } : {}) }
}
