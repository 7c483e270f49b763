import { expect, it } from 'vitest'
import { GatewayError } from '../../core/error.ts'
import { renderError } from '../../http/error-handler.ts'
import { generateContentEnvelope } from './error-envelope.ts'

const told = (retryAfterMs?: number): unknown => {
  const error = new GatewayError('rate_limit_exceeded', 'Too many', retryAfterMs === undefined ? {} : { retryAfterMs })
  return (JSON.parse(renderError(error, 'req-1', undefined, undefined, generateContentEnvelope).body) as { error: object }).error
}
const INFO = { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'RATE_LIMIT_EXCEEDED', domain: 'gateway' }

it('a rate limit error has the retry delay in its details, as in its header', () => {
  expect(told(4_200)).toMatchObject({
    code: 429,
    status: 'RESOURCE_EXHAUSTED',
    message: 'Too many',
    details: [INFO, { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '5s' }],
    metadata: { error_type: 'rate_limit_exceeded' },
  })
})

it('a rate limit error without a known delay has no such detail', () => {
  expect(told()).toMatchObject({ details: [INFO] })
})
