import { expect, it } from 'vitest'
import { GatewayError } from '../../core/error.ts'
import { renderError } from '../../http/error-handler.ts'
import { generateContentEnvelope } from './error-envelope.ts'

const told = (retryAfterMs?: number): unknown => {
  const error = new GatewayError('rate_limit_exceeded', 'Too many', retryAfterMs === undefined ? {} : { retryAfterMs })
  return (JSON.parse(renderError(error, 'req-1', undefined, undefined, generateContentEnvelope).body) as { error: object }).error
}
const INFO = { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'RATE_LIMIT_EXCEEDED', domain: 'gateway' }

it('a limit says in its details when to ask again, as its header does', () => {
  expect(told(4_200)).toMatchObject({
    code: 429,
    status: 'RESOURCE_EXHAUSTED',
    message: 'Too many',
    details: [INFO, { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '5s' }],
    metadata: { error_type: 'rate_limit_exceeded' },
  })
})

it('a limit without a known time has no such detail', () => {
  expect(told()).toMatchObject({ details: [INFO] })
})
