import { describe, expect, it } from 'vitest'
import { GatewayError, type ErrorType } from '../core/error.ts'
import { messages } from '../doors/messages/door.ts'
import { renderError } from './error-handler.ts'

/** Half a character, as JSON writes it: strict readers refuse the whole text for it. */
const HALF = /\\ud[89a-f][0-9a-f]{2}/

describe('an error answer', () => {
  it('is JSON that strict parsers accept, wherever a text in it was cut', () => {
    const error = new GatewayError('permission_denied', `${'x'.repeat(999)}😀`, { raw: 'a\ud83d', metadata: { patterns: ['b\ud83d'] } })
    const { body } = renderError(error, 'id', { gateway_metadata: { summary: 'c\ud83d' } })
    expect(body).not.toMatch(HALF)
    expect(JSON.parse(body)).toMatchObject({
      error: { message: 'x'.repeat(999), metadata: { raw: 'a\ufffd', patterns: ['b\ufffd'] } },
      gateway_metadata: { summary: 'c\ufffd' },
    })
  })

  it('says whose failure it is and contains only known details', () => {
    const details = { source: 'provider', providerName: 'Acme', providerCode: 'busy', raw: '{}', path: 'input', metadata: { limit: 'x' } } as const
    const { status, headers, body } = renderError(new GatewayError('provider_unavailable', 'Why', { ...details, headers: { 'x-a': 'b' } }), 'id')
    expect([status, headers]).toEqual([502, { 'content-type': 'application/json', 'x-a': 'b' }])
    expect(JSON.parse(body)).toEqual({
      error: {
        code: 502,
        message: 'Why',
        metadata: {
          error_type: 'provider_unavailable',
          source: 'provider',
          path: 'input',
          provider_name: 'Acme',
          provider_code: 'busy',
          raw: '{}',
          limit: 'x',
        },
      },
    })
    const bare = renderError(new GatewayError('not_found', 'Why'), 'id')
    expect(bare.headers).toEqual({ 'content-type': 'application/json' })
    expect(JSON.parse(bare.body)).toEqual({ error: { code: 404, message: 'Why', metadata: { error_type: 'not_found', source: 'gateway' } } })
  })

  it('does not contain the message of a bug', () => {
    const { status, body } = renderError(new GatewayError('server', 'password hunter2', { metadata: { token: 'hunter2' } }), 'req-1')
    expect([status, body.includes('hunter2')]).toEqual([500, false])
    expect(JSON.parse(body)).toMatchObject({ error: { message: 'Internal error; quote the request id req-1', metadata: { request_id: 'req-1' } } })
  })

  it.each([
    [0, '1'],
    [1, '1'],
    [1_000, '1'],
    [1_001, '2'],
    [59_500, '60'],
  ])('has Retry-After in whole seconds, at least one, rounded up: %d ms', (retryAfterMs, seconds) => {
    expect(renderError(new GatewayError('rate_limit_exceeded', 'Wait', { retryAfterMs }), 'id').headers['retry-after']).toBe(seconds)
  })

  it('tells clients that would try a refused key for minutes to stop, and leaves the rest to them', () => {
    const advice = (kind: ErrorType) => renderError(new GatewayError(kind, 'Why'), 'id').headers['x-should-retry']
    expect(advice('authentication')).toBe('false')
    for (const kind of ['rate_limit_exceeded', 'provider_overloaded', 'provider_unavailable', 'timeout', 'server'] as const) {
      expect(advice(kind)).toBeUndefined()
    }
  })

  it.each(['server', 'authentication', 'rate_limit_exceeded', 'invalid_request'] as const)(
    'has no routing metadata with %s, but other requested data',
    (kind) => {
      const parts = JSON.parse(renderError(new GatewayError(kind, 'Why'), 'id', { gateway_metadata: {} }, { debug: {} }).body) as object
      expect(Object.keys(parts)).toEqual(['error', 'debug'])
      const others = JSON.parse(renderError(new GatewayError('not_found', 'Why'), 'id', { gateway_metadata: {} }, { debug: {} }).body) as object
      expect(Object.keys(others)).toEqual(['error', 'gateway_metadata', 'debug'])
    },
  )

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
  ] as const)('of Messages has the error types of its contract: %s', (errorType, status, type) => {
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
