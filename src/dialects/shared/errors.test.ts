import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { GatewayError } from '../../core/error.ts'
import { classifyUpstreamError, errorFromPayload } from './errors.ts'
import { verifies } from '../../../e2e/requirements.ts'
import { isPartial } from '../../testing/recordings.ts'
import { threadTime } from '../../testing/thread-time.ts'

// The same cases in every run: a failure must not depend on luck.
fc.configureGlobal({ seed: 20260301 })

const NOW = Date.parse('2026-03-01T12:00:00Z')

function classify(status: number, body: unknown, headers: Record<string, string> = {}): GatewayError {
  return classifyUpstreamError({ status, headers, body: typeof body === 'string' ? body : JSON.stringify(body), providerName: 'Acme', now: NOW })
}

describe('body shapes', () => {
  const cases: readonly [name: string, body: unknown][] = [
    ['nested', { error: { message: 'boom', type: 'x', code: 'y', param: null } }],
    ['text with a code beside it', { code: 'invalid-argument', error: 'boom' }],
    ['flat message', { message: 'boom' }],
    ['capital message', { Message: 'boom' }],
    ['detail', { detail: 'boom' }],
    ['detail list', { detail: [{ loc: ['body', 'temperature'], msg: 'boom', type: 'value_error' }] }],
    ['detail object', { detail: { error: { message: 'boom' } } }],
    ['array of errors', [{ error: { code: 400, message: 'boom', status: 'INVALID_ARGUMENT' } }]],
    ['errors list', { success: false, errors: [{ code: 7003, message: 'boom' }] }],
    ['object error', { object: 'error', message: 'boom', type: 'BadRequestError', code: 400 }],
    ['typed event', { type: 'error', error: { type: 'invalid_request_error', message: 'boom' } }],
    ['JSON inside the message', { error: { message: 'Error code: 400 - {"error":{"message":"boom"}}' } }],
    [
      'a router around the vendor',
      { error: { message: 'Provider returned error', code: 400, metadata: { raw: '{"error":{"message":"boom"}}', provider_name: 'Other' } } },
    ],
    ['a server-sent event', 'event: error\ndata: {"error":{"message":"boom"}}\n\n'],
    ['the beginning of JSON', '{"detail":[{"type":"extra_forbidden","loc":["body","x"],"msg":"boom","input":{"messages":[{"role":"user","cont'],
    ['plain text', 'boom'],
    ['a JSON string', '"boom"'],
  ]
  it.each(cases)('reads the message: %s', (_name, body) => {
    expect(classify(400, body).message).toBe('boom')
  })

  it('reads the title of an HTML page and takes it for an intermediary, not the API', () => {
    const error = classify(400, '<!DOCTYPE html><html><head><title>400 Bad gateway route</title></head><body>x</body></html>')
    expect(error.errorType).toBe('provider_unavailable')
    expect(error.message).toBe('Acme answered with status 400: 400 Bad gateway route')
  })

  it('says the status when the body says nothing', () => {
    expect(classify(500, '').message).toBe('Acme answered with status 500')
  })

  it('names field, code and status', () => {
    const { details } = classify(400, { error: { message: 'bad', code: 'invalid_value', param: 'temperature' } })
    expect(details).toMatchObject({
      source: 'provider',
      providerName: 'Acme',
      upstreamStatus: 400,
      providerCode: 'invalid_value',
      path: 'temperature',
    })
  })
})

describe('classification', () => {
  type Row = [name: string, status: number, body: unknown, type: string, failover?: string]
  const rows: readonly Row[] = [
    ['context by code', 400, { error: { code: 'context_length_exceeded', message: 'x' } }, 'context_length_exceeded', 'next-model'],
    [
      'context, N tokens > M',
      400,
      { type: 'error', error: { type: 'invalid_request_error', message: 'prompt is too long: 333 tokens > 200 maximum' } },
      'context_length_exceeded',
    ],
    ['context, maximum context length', 400, { error: { message: "This model's maximum context length is 10 tokens." } }, 'context_length_exceeded'],
    [
      'context, input token count',
      400,
      { error: { code: 400, message: 'The input token count (12) exceeds the maximum number of tokens allowed (10).', status: 'INVALID_ARGUMENT' } },
      'context_length_exceeded',
    ],
    [
      'context with status 500 of a local server',
      500,
      { error: { message: 'the request exceeds the available context size. try increasing the context size' } },
      'context_length_exceeded',
    ],
    ['context, MiniMax', 400, { error: { message: 'invalid params, context window exceeds limit (2013)' } }, 'context_length_exceeded', 'next-model'],
    [
      'context, Kimi',
      400,
      { error: { message: 'Invalid request: Your request exceeded model token limit: 262144 (requested: 291351)' } },
      'context_length_exceeded',
      'next-model',
    ],
    [
      'context, Grok',
      400,
      { error: "This model's maximum prompt length is 131072 but the request contains 537812 tokens." },
      'context_length_exceeded',
      'next-model',
    ],
    [
      'context, LM Studio',
      400,
      { error: 'The number of tokens to keep from the initial prompt is greater than the context length.' },
      'context_length_exceeded',
      'next-model',
    ],
    [
      'context, LM Studio of before',
      400,
      {
        error:
          'Trying to keep the first 5000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens.',
      },
      'context_length_exceeded',
      'next-model',
    ],
    [
      'context, Qwen',
      400,
      { error: { message: '<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 129024]' } },
      'context_length_exceeded',
      'next-model',
    ],
    [
      'context, Doubao',
      400,
      { error: { message: 'Total tokens of image and text exceed max message tokens.', code: 'InvalidParameter' } },
      'context_length_exceeded',
      'next-model',
    ],
    ['context, GLM', 400, { error: { code: '1261', message: 'Prompt exceeds max length' } }, 'context_length_exceeded', 'next-model'],
    ['context, GLM at home', 400, { error: { code: '1261', message: 'Prompt 超长' } }, 'context_length_exceeded', 'next-model'],
    [
      'context, SiliconFlow',
      400,
      { code: 20015, message: 'length of prompt_tokens (40000) must be less than max_seq_len (32768).' },
      'context_length_exceeded',
      'next-model',
    ],
    ['context, ERNIE', 400, { error: { message: 'prompt tokens too long' } }, 'context_length_exceeded', 'next-model'],
    [
      'context, text-generation-inference',
      422,
      { error: 'Input validation error: `inputs` must have less than 4095 tokens. Given: 5000', error_type: 'validation' },
      'context_length_exceeded',
      'next-model',
    ],
    [
      'context, Copilot',
      400,
      { error: { message: 'prompt token count of 140000 exceeds the limit of 128000', code: 'model_max_prompt_tokens_exceeded' } },
      'context_length_exceeded',
      'next-model',
    ],
    [
      'context, GitHub Models',
      413,
      { error: { message: 'Request body too large for gpt-4o model. Max size: 8000 tokens.', code: 'tokens_limit_reached' } },
      'context_length_exceeded',
      'next-model',
    ],
    ['most tokens of an answer, Qwen', 400, { error: { message: 'Range of max_tokens should be [1, 8192]' } }, 'max_tokens_exceeded', 'next-model'],
    ['a filter, MiniMax', 400, { error: { message: 'input new_sensitive (1026)' } }, 'content_policy_violation', 'next-model'],
    [
      'a filter, GLM at home',
      400,
      { error: { code: '1301', message: '系统检测到输入或生成内容可能包含不安全或敏感内容，请您避免输入易产生敏感内容的提示语，感谢您的配合。' } },
      'content_policy_violation',
      'next-model',
    ],
    ['an empty account, Novita', 403, { code: 403, reason: 'NOT_ENOUGH_BALANCE', message: 'not enough balance' }, 'payment_required', 'next'],
    [
      'a model that Bedrock serves by profiles only',
      400,
      {
        message:
          'Invocation of model ID anthropic.claude-x with on-demand throughput isn’t supported. Retry your request with the ID of an inference profile.',
      },
      'not_found',
      'next',
    ],
    ['no model of Bedrock', 400, { message: 'The provided model identifier is invalid.' }, 'not_found', 'next'],
    [
      'a model of NVIDIA that is down',
      400,
      { status: 400, title: 'Bad Request', detail: "Function id '1-2': DEGRADED function cannot be invoked" },
      'provider_unavailable',
      'next',
    ],
    [
      'a request too large for Gemini',
      400,
      { error: { code: 400, message: 'Request payload size exceeds the limit: 20971520 bytes.', status: 'INVALID_ARGUMENT' } },
      'payload_too_large',
      'next',
    ],
    [
      'a schema that llama.cpp makes no grammar of',
      400,
      { error: { code: 400, message: 'Failed to initialize samplers: failed to parse grammar', type: 'invalid_request_error' } },
      'invalid_request',
      'next',
    ],
    [
      'a schema Gemini does not take',
      400,
      { error: { code: 400, message: 'reference to undefined schema at properties.a', status: 'INVALID_ARGUMENT' } },
      'invalid_request',
      'next',
    ],
    ['context with status 413', 413, { error: { message: 'Prompt is too long' } }, 'context_length_exceeded'],
    ['too many tokens per minute is a rate limit', 429, { error: { message: 'Too many tokens per minute' } }, 'rate_limit_exceeded', 'next'],
    [
      'throttling with status 400',
      400,
      { __type: 'com.amazon.coral.service#ThrottlingException', message: 'Too many tokens, please wait before trying again.' },
      'rate_limit_exceeded',
    ],
    [
      'quota is payment although 429',
      429,
      { error: { code: 'insufficient_quota', type: 'insufficient_quota', message: 'You exceeded your current quota' } },
      'payment_required',
      'next',
    ],
    [
      'quota per minute is a rate limit',
      429,
      { error: { code: 429, status: 'RESOURCE_EXHAUSTED', message: 'You exceeded your current quota, please check your plan' } },
      'rate_limit_exceeded',
    ],
    [
      'credit balance with status 400',
      400,
      { error: { type: 'invalid_request_error', message: 'Your credit balance is too low to access the API' } },
      'payment_required',
    ],
    [
      'a spending limit of the account with status 400',
      400,
      {
        type: 'error',
        error: {
          type: 'invalid_request_error',
          message: 'You have reached your specified API usage limits. You will regain access on 2026-04-01 at 00:00 UTC.',
        },
      },
      'payment_required',
      'next',
    ],
    [
      'an account that was closed, with status 400',
      400,
      { type: 'error', error: { type: 'invalid_request_error', message: 'This organization has been disabled.' } },
      'payment_required',
      'next',
    ],
    [
      'a spending limit of a workspace with status 400',
      400,
      { error: { type: 'invalid_request_error', message: 'You have reached your specified workspace API usage limits.' } },
      'payment_required',
      'next',
    ],
    ...['contract_spend_limit_reached', 'enforced_spend_limit_reached'].map((error_code): Row => [
      `${error_code} with status 429`,
      429,
      { type: 'error', error: { type: 'rate_limit_error', message: 'No more usage this month.', details: { error_code } } },
      'payment_required',
      'next',
    ]),
    ...['organization_spend_limit_exceeded', 'project_spend_limit_exceeded', 'organization_usage_limit_exceeded', 'credit_balance_exhausted'].map(
      (code): Row => [
        `${code} with status 429`,
        429,
        { error: { type: 'requests', code, message: 'No more this month.' } },
        'payment_required',
        'next',
      ],
    ),
    [
      'usage that may not grow so fast',
      429,
      { type: 'error', error: { type: 'rate_limit_error', message: 'Slow down.', details: { error_code: 'ramp_limit_exceeded' } } },
      'rate_limit_exceeded',
    ],
    ['balance', 402, { error: { message: 'Insufficient Balance' } }, 'payment_required'],
    ['wrong key is 400', 400, { code: 'invalid-argument', error: 'Incorrect API key provided.' }, 'authentication', 'next'],
    [
      'wrong key is 400 with details',
      400,
      { error: { code: 400, message: 'API key not valid.', status: 'INVALID_ARGUMENT', details: [{ reason: 'API_KEY_INVALID' }] } },
      'authentication',
    ],
    ['wrong key is 403', 403, { message: 'The security token included in the request is invalid.' }, 'authentication'],
    ['403', 403, { error: { message: 'Forbidden' } }, 'permission_denied', 'next'],
    ...['organization_on_hold', 'cmek_key_disabled', 'cmek_key_network_blocked'].map((error_code): Row => [
      `${error_code} with status 400`,
      400,
      { type: 'error', error: { type: 'invalid_request_error', message: 'Not now.', details: { error_code } } },
      'permission_denied',
      'next',
    ]),
    [
      'a key nobody answers for',
      400,
      { type: 'error', error: { type: 'invalid_request_error', message: 'Not a member.', details: { error_code: 'acme_key_creator_not_member' } } },
      'authentication',
      'next',
    ],
    ['data that may not leave', 0, { code: 'data_residency_mismatch', message: 'No.' }, 'permission_denied', 'next'],
    ['a policy by its code', 0, { code: 'misalignment_policy_violation', message: 'Stopped.' }, 'content_policy_violation', 'next-model'],
    ...['workspace_policy_violation', 'organization_policy_violation'].map((error_code): Row => [
      `${error_code} of the account`,
      400,
      { type: 'error', error: { type: 'invalid_request_error', message: 'Not here.', details: { error_code } } },
      'permission_denied',
      'next',
    ]),
    ['an image with too many pixels', 400, { error: { code: 'image_dimensions_too_large', message: 'No.' } }, 'image_too_large'],
    [
      'the place the gateway runs at',
      400,
      { error: { code: 400, message: 'User location is not supported for the API use.', status: 'FAILED_PRECONDITION' } },
      'permission_denied',
      'next',
    ],
    [
      'the country of an account',
      400,
      {
        error: {
          code: 400,
          message: 'Gemini API free tier is not available in your country. Please enable billing on your project.',
          status: 'FAILED_PRECONDITION',
        },
      },
      'permission_denied',
      'next',
    ],
    [
      'moderation',
      403,
      { error: { code: 403, message: 'Your input was flagged by moderation', metadata: { reasons: ['violence'] } } },
      'content_policy_violation',
      'next-model',
    ],
    [
      'moderation that says no more than that',
      403,
      { error: { code: 403, message: 'Your chosen model requires moderation and your input was flagged' } },
      'content_policy_violation',
      'next-model',
    ],
    [
      'moderation that quotes what it flagged',
      403,
      { error: { code: 403, message: 'Forbidden', metadata: { reasons: ['violence'], flagged_input: 'hi' } } },
      'content_policy_violation',
      'next-model',
    ],
    [
      'moderation that says what was not charged',
      403,
      { error: { code: 403, message: 'acme/small requires moderation on Acme. Your input was flagged for "violence". No credits were charged.' } },
      'content_policy_violation',
      'next-model',
    ],
    [
      'a field that quotes the request, which speaks of keys',
      400,
      {
        error: {
          message: "Invalid schema for function 'f': 'invalid api key' is not valid under any of the given schemas.",
          type: 'invalid_request_error',
          param: 'tools[0].function.parameters',
          code: 'invalid_function_parameters',
        },
      },
      'invalid_request',
      'next-model',
    ],
    ['a request that is quoted, which speaks of money', 400, { error: { message: "Unknown type 'out of credits' in tool 'f'" } }, 'invalid_request'],
    ['one that speaks of limits', 400, { error: { message: 'Unknown type "too many requests"' } }, 'invalid_request'],
    ['one that ends its quotation', 400, { error: { message: "Unknown type 'x' invalid api key 'y'" } }, 'invalid_request'],
    [
      'a field that quotes the request, which speaks of models',
      400,
      { error: { message: "'model does not exist' is not a type", param: 'tools[0].function.parameters' } },
      'invalid_request',
    ],
    ['JSON that is quoted, with the code of a key', 400, { error: { message: 'Invalid value: {"code":"invalid_api_key"}' } }, 'invalid_request'],
    [
      'a field whose value is quoted, which looks like an error',
      400,
      { error: { message: 'Invalid value: {"error":{"code":"invalid_api_key","message":"Invalid API key"}}', param: 'tools[0]' } },
      'invalid_request',
    ],
    ['an error in a message', 400, { error: { message: 'Upstream: {"error":{"code":"invalid_api_key","message":"Wrong"}}' } }, 'authentication'],
    [
      'a field that is always there, and empty',
      400,
      { error: { message: 'no', type: 'api_error', param: '', code: 'invalid_api_key' } },
      'authentication',
      'next',
    ],
    ['the same of money', 400, { error: { message: 'Insufficient balance', param: '', code: '' } }, 'payment_required', 'next'],
    ['the model by its id', 400, { error: { message: 'no', param: 'model_id', code: 'model_not_found' } }, 'not_found', 'next'],
    ['the model as some write it', 400, { message: 'unknown model', param: 'modelId' }, 'not_found', 'next'],
    ['a key as a field', 400, { message: 'no', param: 'api_key', code: 'invalid_api_key' }, 'authentication', 'next'],
    ['a field that is like a model', 400, { message: 'model not found', param: 'model_settings' }, 'invalid_request', 'next-model'],
    ['a field that is none', 400, { error: { message: 'Your credit balance is too low', param: 'None', code: '400' } }, 'payment_required', 'next'],
    [
      'an exception that was passed on, with what came of it',
      400,
      {
        error: {
          message:
            'proxy.BadRequestError: AcmeException - {"type":"error","error":{"message":"Your credit balance is too low"}}. Received Group="g", Fallbacks=None',
          param: 'None',
          code: '400',
        },
      },
      'payment_required',
      'next',
    ],
    [
      'one that was passed on as bytes',
      400,
      {
        error: { message: `proxy.BadRequestError: AcmeException - b'{"error":{"message":"Rate limit reached","code":"rate_limit"}}'`, param: 'null' },
      },
      'rate_limit_exceeded',
    ],
    [
      'an error that is quoted in the middle',
      400,
      { error: { message: 'The value {"error":{"message":"invalid api key","code":"invalid_api_key"}} is no type' } },
      'invalid_request',
    ],
    ['a key without which', 400, { error: { message: "You didn't provide an API key, or it's one of 'none'" } }, 'authentication'],
    ['no credits', 403, { error: { message: 'You have no credits left' } }, 'payment_required', 'next'],
    ['a key that was flagged', 403, { error: { message: 'This API key has been flagged' } }, 'permission_denied', 'next'],
    [
      'content filter',
      400,
      { error: { code: 'content_filter', message: 'The response was filtered', innererror: { code: 'ResponsibleAIPolicyViolation' } } },
      'content_policy_violation',
    ],
    ['model missing', 404, { error: { code: 'model_not_found', message: 'The model `x` does not exist' } }, 'not_found', 'next'],
    [
      'stored prompt missing',
      404,
      { error: { message: "Prompt with id 'pmpt_1' not found.", type: 'invalid_request_error' } },
      'invalid_request',
      'next',
    ],
    ['vector store missing', 404, { error: { message: 'Vector stores with IDs [vs_1] not found.', code: null } }, 'invalid_request', 'next'],
    ['model file missing', 404, { error: { message: 'The file of the model does not exist' } }, 'not_found'],
    ['route missing', 404, { detail: 'Not Found' }, 'not_found'],
    ['model missing with status 400', 400, { error: { message: 'Model foo/bar does not exist' } }, 'not_found'],
    ['timeout', 504, '', 'timeout', 'next'],
    ['overloaded', 529, { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }, 'provider_overloaded', 'retry'],
    [
      'overloaded with status 429',
      429,
      { error: { type: 'engine_overloaded_error', message: 'The engine is currently overloaded' } },
      'provider_overloaded',
    ],
    ['503', 503, 'Service Unavailable', 'provider_overloaded'],
    ['500', 500, { error: { message: 'Internal', type: 'server_error' } }, 'provider_unavailable', 'retry'],
    [
      'broken generation',
      400,
      { error: { code: 'tool_use_failed', failed_generation: 'x', message: 'Tool call validation failed', type: 'invalid_request_error' } },
      'provider_unavailable',
      'retry',
    ],
    ['payload', 413, '', 'payload_too_large', 'next'],
    [
      'unsupported parameter',
      400,
      { error: { code: 'unsupported_parameter', message: "Unsupported parameter: 'temperature'", param: 'temperature' } },
      'invalid_request',
      'next',
    ],
    ['unsupported by text', 400, { error: { message: "'response_format' is not supported by this model" } }, 'invalid_request', 'next'],
    [
      'extra field',
      422,
      { detail: [{ loc: ['body', 'stream_options'], msg: 'Extra inputs are not permitted', type: 'extra_forbidden' }] },
      'invalid_request',
      'next',
    ],
    ['422', 422, { error: { message: 'no' } }, 'unprocessable', 'next-model'],
    ['400', 400, { error: { message: 'temperature is a string', type: 'invalid_request_error' } }, 'invalid_request', 'next-model'],
    ['messages', 400, { error: { message: 'bad block', param: 'messages[3].content' } }, 'invalid_prompt', 'next-model'],
    [
      'max tokens',
      400,
      { error: { message: 'max_tokens: 100000 > 64000, which is the maximum allowed number of output tokens' } },
      'max_tokens_exceeded',
      'next-model',
    ],
    ['image', 400, { error: { code: 'invalid_image_format', message: 'x' } }, 'unsupported_image_format', 'next'],
    ['image download', 400, { error: { message: 'Cannot fetch content from the provided URL.' } }, 'image_download_failed'],
    ['redirect', 302, '', 'provider_unavailable', 'next'],
  ]
  it.each(rows)('%s', (_name, status, body, type, failover) => {
    const error = classify(status, body)
    expect(error.errorType).toBe(type)
    if (failover !== undefined) expect(error.failover).toBe(failover)
  })

  it('declares the credential dead for 401, 402, 403 and spent quota, not for a model it may not use', () => {
    expect(classify(401, '').details.credentialDead).toBe(true)
    expect(classify(402, '').details.credentialDead).toBe(true)
    expect(classify(403, { error: 'Forbidden' }).details.credentialDead).toBe(true)
    expect(classify(429, { error: { code: 'insufficient_quota' } }).details.credentialDead).toBe(true)
    expect(classify(403, { message: "You don't have access to the model with the specified model ID." }).details.credentialDead).toBeUndefined()
    expect(classify(429, { error: { message: 'slow down' } }).details.credentialDead).toBeUndefined()
  })

  it('reads the exception type from the header where the body has none', () => {
    expect(classify(400, { message: 'x' }, { 'x-amzn-errortype': 'ThrottlingException:http://internal' }).errorType).toBe('rate_limit_exceeded')
  })
})

describe('retry hints', () => {
  const wait = (headers: Record<string, string>, body: unknown = ''): number | undefined => classify(429, body, headers).details.retryAfterMs
  it.each<[string, Record<string, string>, unknown, number | undefined]>([
    ['seconds', { 'retry-after': '7' }, '', 7000],
    ['a date', { 'retry-after': 'Sun, 01 Mar 2026 12:00:30 GMT' }, '', 30_000],
    ['milliseconds win', { 'retry-after-ms': '250', 'retry-after': '7' }, '', 250],
    [
      'durations',
      {
        'x-ratelimit-reset-requests': '6m0s',
        'x-ratelimit-remaining-requests': '0',
        'x-ratelimit-reset-tokens': '20ms',
        'x-ratelimit-remaining-tokens': '5',
      },
      '',
      360_000,
    ],
    ['RFC 3339', { 'anthropic-ratelimit-tokens-reset': '2026-03-01T12:01:00Z', 'anthropic-ratelimit-tokens-remaining': '0' }, '', 60_000],
    ['epoch seconds', { 'x-ratelimit-reset': String(NOW / 1000 + 5) }, '', 5000],
    ['epoch milliseconds', { 'x-ratelimit-reset': String(NOW + 1500) }, '', 1500],
    [
      'google RetryInfo',
      {},
      { error: { code: 429, message: 'x', details: [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '37s' }] } },
      37_000,
    ],
    ["a plan's window, in seconds", {}, { error: { type: 'usage_limit_reached', message: 'x', resets_in_seconds: 3600 } }, 3_600_000],
    ["a plan's window, by the clock", {}, { error: { type: 'usage_limit_reached', message: 'x', resets_at: NOW / 1000 + 90 } }, 90_000],
    ["a quota's window", {}, { error: { message: 'x', details: [{ metadata: { quotaResetDelay: '1h6m3.5s' } }] } }, 3_963_500],
    ['prose in seconds', {}, { error: { message: 'Limit 3, Used 3. Please try again in 11.054s. Visit x' } }, 11_054],
    ['prose in milliseconds', {}, { error: { message: 'Please try again in 28ms.' } }, 28],
    ['prose in words', {}, { error: { message: 'Please retry after 35 seconds.' } }, 35_000],
    ['prose in minutes', {}, { error: { message: 'Please try again in 1m30s' } }, 90_000],
    ['a header repeated in the body', {}, { error: { message: 'x', metadata: { headers: { 'X-RateLimit-Reset': String(NOW + 9000) } } } }, 9000],
    ['none', {}, { error: { message: 'try again later' } }, undefined],
    ['nonsense', { 'retry-after': 'soon' }, '', undefined],
    ['bounded to a day', { 'retry-after': '99999999' }, '', 86_400_000],
  ])('%s', (_name, headers, body, expected) => {
    expect(wait(headers, body)).toBe(expected)
  })
})

describe(verifies('G4', 'secrets'), () => {
  it.each([
    ['a vendor key', 'Incorrect API key provided: sk-proj-abcDEF123456789. See docs', 'abcDEF'],
    ['a half masked key', 'Incorrect API key provided: sk-abc*****wxyz.', 'wxyz'],
    ['an unknown key', 'Your api key: ****-key is invalid', '****-key'],
    ['a key in a URL', 'POST https://x.test/v1/models/m:generate?alt=sse&key=AIzaSyA1234567890abcdef failed', 'AIzaSy'],
    ['who fetches, in an address', 'Could not download https://reader:hunter2@files.example/a.png', 'hunter2'],
    ['who fetches, its slashes escaped', String.raw`{"message":"no https:\/\/reader:hunter2@files.example\/a.png"}`, 'hunter2'],
    ['a password with its own @', 'Could not download https://reader:pa@ss2word@files.example/a.png', 'ss2word'],
    ['a bearer', 'header Authorization: Bearer abc.def-ghi_123 rejected', 'abc.def'],
    ['a bearer with escaped slashes', String.raw`{"message":"header Authorization: Bearer Zm9v\/aHVudGVyMg== rejected"}`, 'aHVudGVyMg'],
    ['a bearer with characters as numbers', String.raw`{"message":"Basic Zm9v\u002BaHVudGVyMg\u003d\u003d rejected"}`, 'aHVudGVyMg'],
    ['a bearer as it stands in an address', 'Bearer Zm9vZm9v%2FaHVudGVyMg%3D%3D rejected', 'aHVudGVyMg'],
    ['a key in a URL with escaped slashes', String.raw`{"message":"no https:\/\/x.test\/v1?key=Zm9v\/aHVudGVyMg=="}`, 'aHVudGVyMg'],
    ['a JSON field', '{"x-api-key":"hunter2hunter2","message":"m"}', 'hunter2'],
  ])('%s is in neither message nor raw', (_name, text, secret) => {
    for (const body of [text, JSON.stringify({ error: { message: text } })]) {
      const error = classify(401, body)
      expect(error.message).not.toContain(secret)
      expect(error.details.raw).not.toContain(secret)
    }
  })

  it('cuts raw to 4 KB and the message to 1000 characters', () => {
    const error = classify(500, { error: { message: 'x'.repeat(50_000) } })
    expect(error.details.raw).toHaveLength(4096)
    expect(error.message).toHaveLength(1000)
  })
})

describe('characters of two halves', () => {
  const told = (error: GatewayError): string => JSON.stringify([error.message, error.details])
  it.each([
    ['a message', { error: { message: `${'a'.repeat(998)}😀 and more` } }],
    ['a long message', { error: { message: `${'a'.repeat(1_999)}😀${'b'.repeat(4_000)}` } }],
    ['a page', `<html><body>${'a'.repeat(298)}😀 and more</body></html>`],
    ['text', `${'a'.repeat(4_094)}😀${'b'.repeat(9_000)}`],
    ['the place', { error: { message: 'no', param: `${'a'.repeat(199)}😀` } }],
    ['the code', { error: { message: 'no', code: `${'a'.repeat(198)}😀b` } }],
  ])('are never cut in two: %s', (_what, body) => {
    const error = classify(400, body)
    expect(told(error)).not.toMatch(/\\ud[89a-f]|\ufffd/i)
  })
  it('that arrived as a half become a replacement character', () => {
    const error = errorFromPayload({ error: { message: 'so \ud83d it is', code: 'c\ude00', param: 'p\ud83d' } }, { providerName: 'Acme' })
    expect(error.message).toBe('so \ufffd it is')
    expect(told(error)).not.toMatch(/"[^"]*[^\\]\\ud[89a-f]/i)
    expect(error.details).toMatchObject({ providerCode: 'c\ufffd', path: 'p\ufffd' })
  })
})

describe('errorFromPayload', () => {
  it.each<[string, unknown, string]>([
    ['an error chunk with a status as code', { id: 'x', error: { code: 502, message: 'Upstream died' }, choices: [] }, 'provider_unavailable'],
    ['a status_code inside', { error: { message: 'Rate limit', type: 'x', status_code: 429 } }, 'rate_limit_exceeded'],
    ['an object error', { object: 'error', message: 'boom', code: 500 }, 'provider_unavailable'],
    ['overload by type', { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }, 'provider_overloaded'],
    [
      'a failed terminal event',
      { type: 'response.failed', response: { error: { code: 'rate_limit_exceeded', message: 'slow' } } },
      'rate_limit_exceeded',
    ],
    ['token limit', { error: { code: 400, message: 'Token limit reached' } }, 'token_limit_exceeded'],
    ['nothing known', { error: {} }, 'provider_unavailable'],
    ['null', null, 'provider_unavailable'],
    ['text', 'overloaded', 'provider_overloaded'],
  ])('%s', (_name, payload, type) => {
    expect(errorFromPayload(payload, { providerName: 'Acme' }).errorType).toBe(type)
  })

  it('takes an exception name from outside the payload', () => {
    const error = errorFromPayload({ message: 'x' }, { providerName: 'Acme', code: 'throttlingException' })
    expect(error.errorType).toBe('rate_limit_exceeded')
    expect(error.details.providerCode).toBe('throttlingException')
  })
})

describe('any input', () => {
  it('never gives an error type that only management routes use', () => {
    for (let status = 300; status < 600; status++) expect(['conflict', 'precondition_failed']).not.toContain(classify(status, {}).errorType)
  })
  it.each([
    ['an empty field', { error: { message: 'x', param: '', code: 'rate_limit_exceeded' } }, 'rate_limit_exceeded'],
    ['what is used up as the field', { message: 'x', type: 'too_many_requests_error', param: 'quota' }, 'rate_limit_exceeded'],
    ['what is full as the field', { error: { message: 'x', param: 'queue', code: 'overloaded' } }, 'provider_overloaded'],
  ])('trusts the code of an error within a stream that names %s', (_name, payload, type) => {
    expect(errorFromPayload(payload, { providerName: 'Acme' }).errorType).toBe(type)
  })
  it('treats a call that the vendor cancelled as the vendor’s failure, because the caller is still waiting', () => {
    const cancelled = { error: { code: 499, message: 'The operation was cancelled.', status: 'CANCELLED' } }
    for (const error of [classify(499, cancelled), classify(499, ''), errorFromPayload(cancelled, { providerName: 'Acme' })])
      expect([error.errorType, error.failover]).toEqual(['provider_unavailable', 'next'])
  })

  it('gives a GatewayError and never throws', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 300, max: 599 }),
        fc.oneof(fc.string(), fc.json()),
        fc.dictionary(fc.constantFrom('retry-after', 'x-ratelimit-reset', 'x-amzn-errortype'), fc.string()),
        (status, body, headers) => {
          const error = classifyUpstreamError({ status, headers, body, providerName: 'Acme', now: NOW })
          expect(error).toBeInstanceOf(GatewayError)
          expect(error.message).not.toBe('')
          expect(error.details.source).toBe('provider')
        },
      ),
    )
  })
  it('reads any payload', () => {
    fc.assert(
      fc.property(fc.anything(), (payload) => {
        expect(errorFromPayload(payload, { providerName: 'Acme', now: NOW })).toBeInstanceOf(GatewayError)
      }),
    )
  })
})

const fixtures = process.env['SIGNALBOX_FIXTURES'] ?? join(import.meta.dirname, '../../../../shared/fixtures')
const present = existsSync(join(fixtures, 'index.json'))
if (!present) console.warn(`recordings not found at ${fixtures}: error replay skipped`)

interface Step {
  readonly status: number
  readonly response: string
  readonly dialect: string
}

describe.skipIf(!present)('recorded error answers', () => {
  const scenarios = present ? (JSON.parse(readFileSync(join(fixtures, 'index.json'), 'utf8')) as { steps: Step[] }[]) : []
  const steps = scenarios.flatMap(({ steps }) => steps).filter(({ status }) => status >= 400)
  const byStatus: Readonly<Record<number, readonly string[]>> = {
    400: ['authentication', 'context_length_exceeded', 'provider_unavailable', 'invalid_prompt', 'image_download_failed'],
    401: ['authentication'],
    403: ['authentication'],
    404: ['not_found'],
    429: ['rate_limit_exceeded', 'payment_required'],
  }
  it.skipIf(!present || isPartial(fixtures))('are there', () => {
    expect(steps.length).toBeGreaterThan(20)
  })
  it.each(steps.map((step) => [step.response, step] as const))('%s', (path, step) => {
    const error = classifyUpstreamError({
      status: step.status,
      headers: {},
      body: readFileSync(join(fixtures, path), 'utf8'),
      providerName: 'Acme',
      now: NOW,
    })
    expect(byStatus[step.status]).toContain(error.errorType)
    expect(error.message).not.toMatch(/^Acme|^Provider returned error$/)
  })
})

describe('bodies made to be slow to parse', () => {
  it.each([
    ['titles that never end', `<html>${'<title'.repeat(11_000)}`],
    ['headings that never end', `<html>${'<h1'.repeat(21_000)}`],
    ['a number that is no time to wait', JSON.stringify({ error: { message: 'slow down' }, retry_after: `1s ${'0'.repeat(60_000)}` })],
    ['an event that ends in brackets and blanks', `data:{${'}'.repeat(30_000)}${' '.repeat(30_000)}x`],
  ])('%s do not', (_what, body) => {
    const started = threadTime()
    for (const status of [429, 502]) classify(status, body)
    expect(threadTime() - started).toBeLessThan(500)
  })
})
