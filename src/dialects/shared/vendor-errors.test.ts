import { describe, expect, it } from 'vitest'
import { classifyUpstreamError } from './errors.ts'

/** What vendors and servers really say, one line each; what it is, and where a call may go on. */
describe('error messages of vendors', () => {
  type Row = [name: string, status: number, body: unknown, type: string, failover: string]
  const of = (message: string, more: object = {}): unknown => ({ error: { message, ...more } })
  const overflow = (message: string, status = 400): Row => [`too long: ${message}`, status, of(message), 'context_length_exceeded', 'next-model']
  const empty = (message: string, status: number, more: object = {}): Row => [
    `no money: ${message}`,
    status,
    of(message, more),
    'payment_required',
    'next',
  ]
  const rows: readonly Row[] = [
    overflow('Unable to submit request because the input token count is 140000 but model only supports up to 131072. Reduce the input token count.'),
    overflow('The decoder prompt (length 40000) is longer than the maximum model length of 32768.'),
    overflow(
      'Input validation error: `inputs` tokens + `max_new_tokens` must be <= 131073. Given: 150000 `inputs` tokens and 2048 `max_new_tokens`',
      422,
    ),
    overflow('AiError: The estimated number of input and maximum output tokens (131328) exceeded this model context window limit (131072).', 413),
    overflow('prompt has 9000 tokens, but the configured context size is 8192 tokens'),
    overflow("The input exceeds the model's maximum input length of 30720 tokens"),
    overflow('input is too large to process. increase the physical batch size', 500),
    overflow('max_tokens must be at least 1, got -19183.'),
    ...['Provided image is not valid.', 'Unable to process input image. Please retry or report.'].map((message): Row => [
      message,
      400,
      of(message, { status: 'INVALID_ARGUMENT' }),
      'invalid_image',
      'next',
    ]),
    ...[
      ['image/gif', 'unsupported_image_format'],
      ['application/vnd.openxmlformats-officedocument.wordprocessingml.document', 'invalid_request'],
    ].map(([type, kind]): Row => [
      `media of another kind: ${type}`,
      400,
      of(`Unsupported MIME type: ${type}`, { status: 'INVALID_ARGUMENT' }),
      kind!,
      'next',
    ]),
    empty('Your prepayment credits are depleted.', 429, { status: 'RESOURCE_EXHAUSTED' }),
    empty('Your project has exceeded its monthly spending cap.', 429, { status: 'RESOURCE_EXHAUSTED' }),
    empty('The request failed because your account has an overdue balance.', 403, { code: 'AccountOverdueError', type: 'Forbidden' }),
    empty('Organization has reached its configured spend limit.', 400, { code: 'blocked_api_access', type: 'invalid_request_error' }),
    [
      'no money, beside another word',
      403,
      {
        code: 'The caller does not have permission to execute the specified operation',
        error: "Your newly created team doesn't have any credits or licenses yet. You can purchase those on https://console.test.",
      },
      'payment_required',
      'next',
    ],
    [
      'an account that was closed, as a bad request',
      400,
      of('Organization has been restricted. Please reach out to support.', { code: 'organization_restricted', type: 'invalid_request_error' }),
      'permission_denied',
      'next',
    ],
    empty('余额不足或无可用资源包,请充值。', 429, { code: '1113' }),
    [
      'no money, beside the error',
      403,
      { code: 30001, message: 'Sorry, your account balance is insufficient', data: null },
      'payment_required',
      'next',
    ],
    ...[
      'InputTextSensitiveContentDetected',
      'OutputTextSensitiveContentDetected',
      'SensitiveContentDetected.SevereViolation',
      'InputTextRiskDetection',
    ].map((code): Row => [
      `a filter: ${code}`,
      400,
      of('The request failed because the input text may contain sensitive information.', { code }),
      'content_policy_violation',
      'next-model',
    ]),
    [
      'media that could not be fetched for a filter',
      400,
      of('Unable to download the media resource during the data inspection process.', { code: 'InvalidParameter.DataInspection' }),
      'image_download_failed',
      'next',
    ],
    ...['Model unloaded.', 'The model has crashed without additional information. (Exit code: 6)', 'Channel Error'].map((error): Row => [
      `a model that is gone: ${error}`,
      400,
      { error },
      'provider_unavailable',
      'retry',
    ]),
    ...['No models loaded. Please load a model in the developer page.', 'Failed to load model "a/b". Error: Operation canceled.'].map(
      (message): Row => [`a model that cannot be had: ${message}`, 400, of(message), 'provider_unavailable', 'next'],
    ),
    [
      'a template that takes no such roles',
      400,
      { error: 'Error rendering prompt with jinja template: "Error: Only user roles!"' },
      'invalid_request',
      'next',
    ],
    [
      'a model that is not supported',
      400,
      of('The requested model is not supported.', { code: 'model_not_supported', param: 'model' }),
      'not_found',
      'next',
    ],
    [
      'a model of another route',
      400,
      of('The chatCompletion operation does not work with the specified model, o3-pro.', { code: 'OperationNotSupported' }),
      'invalid_request',
      'next',
    ],
    ['an account that may not', 400, { message: 'Operation not allowed', __type: 'ValidationException' }, 'permission_denied', 'next'],
    ['an item that is not kept', 404, of("Item with id 'rs_1' not found. Items are not persisted.", { param: 'input' }), 'invalid_request', 'next'],
    [
      'most tokens of an answer',
      400,
      of('Invalid max_tokens value, the valid range of max_tokens is [1, 8192]'),
      'max_tokens_exceeded',
      'next-model',
    ],
  ]

  it.each(rows)('%s', (_, status, body, type, failover) => {
    const error = classifyUpstreamError({ status, headers: {}, body: JSON.stringify(body), providerName: 'Acme' })
    expect({ type: error.errorType, failover: error.failover }).toEqual({ type, failover })
  })

  it('a firewall in front of a provider does not make the key invalid', () => {
    const error = classifyUpstreamError({ status: 403, headers: {}, body: 'error code: 1010', providerName: 'Acme' })
    expect({ type: error.errorType, dead: error.details.credentialDead, message: error.message }).toEqual({
      type: 'permission_denied',
      dead: undefined,
      message: 'Acme answered with status 403: error code: 1010',
    })
  })
})
