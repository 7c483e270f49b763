import { describe, expect, it } from 'vitest'
import { GatewayError } from '../core/error.ts'
import { messages } from '../doors/messages/door.ts'
import { renderError } from './error-handler.ts'

/** Half a character, as JSON writes it: strict readers refuse the whole text for it. */
const HALF = /\\ud[89a-f][0-9a-f]{2}/

describe('an error answer', () => {
  it('is JSON that strict readers take, wherever a text in it was cut', () => {
    const error = new GatewayError('permission_denied', `${'x'.repeat(999)}😀`, { raw: 'a\ud83d', metadata: { patterns: ['b\ud83d'] } })
    const { body } = renderError(error, 'id', { gateway_metadata: { summary: 'c\ud83d' } })
    expect(body).not.toMatch(HALF)
    expect(JSON.parse(body)).toMatchObject({
      error: { message: 'x'.repeat(999), metadata: { raw: 'a\ufffd', patterns: ['b\ufffd'] } },
      gateway_metadata: { summary: 'c\ufffd' },
    })
  })

  it.each([
    ['invalid_request', 400, 'invalid_request_error'],
    ['authentication', 401, 'authentication_error'],
    ['payment_required', 402, 'billing_error'],
    ['permission_denied', 403, 'permission_error'],
    ['image_not_found', 404, 'not_found_error'],
    ['timeout', 408, 'timeout_error'],
    ['payload_too_large', 413, 'invalid_request_error'],
    ['unprocessable', 422, 'invalid_request_error'],
    ['rate_limit_exceeded', 429, 'rate_limit_error'],
    ['server', 500, 'api_error'],
    ['provider_unavailable', 502, 'api_error'],
    ['provider_overloaded', 503, 'overloaded_error'],
  ] as const)('of Messages has the words of its contract: %s', (errorType, status, type) => {
    const rendered = renderError(new GatewayError(errorType, 'Why', { path: 'x' }), 'id', { gateway_metadata: {} }, undefined, messages.envelope)
    expect(rendered.status).toBe(status)
    expect(JSON.parse(rendered.body)).toMatchObject({
      type: 'error',
      error: { type, error_type: errorType },
      metadata: { source: 'gateway' },
      request_id: 'id',
    })
  })
})
