import { describe, expect, it } from 'vitest'
import type { Subject } from './subject.ts'

/** Error answers that any vendor may give, and how they must be classified. */
const ERRORS: readonly (readonly [status: number, body: string, types: readonly string[], to: 'model' | 'endpoint'])[] = [
  [400, '{"error":{"message":"bad","type":"invalid_request_error"}}', ['invalid_request'], 'model'],
  [401, '{"message":"Unauthorized"}', ['authentication'], 'endpoint'],
  [402, '', ['payment_required'], 'endpoint'],
  [403, '{"message":"forbidden"}', ['permission_denied'], 'endpoint'],
  [404, '{"message":"no such model"}', ['not_found'], 'endpoint'],
  [408, '', ['timeout'], 'endpoint'],
  [413, '', ['payload_too_large'], 'endpoint'],
  [429, '{"message":"slow down"}', ['rate_limit_exceeded'], 'endpoint'],
  [500, '<html><body>oops</body></html>', ['provider_unavailable'], 'endpoint'],
  [502, '', ['provider_unavailable'], 'endpoint'],
  [503, 'busy', ['provider_overloaded'], 'endpoint'],
  [529, '{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}', ['provider_overloaded'], 'endpoint'],
]

/** Errors of a vendor, mapped to our types. */
export function describeErrors({ dialect, target }: Subject): void {
  describe('errors', () => {
    it.each(ERRORS)('%i %s', (status, body, types, to) => {
      const error = dialect.decodeError(status, {}, body, target)
      expect(types).toContain(error.errorType)
      expect(to === 'model' ? ['next-model'] : ['next', 'retry']).toContain(error.failover)
      expect(error.details).toMatchObject({ source: 'provider', providerName: 'Acme', upstreamStatus: status })
    })
    it('show no secret', () => {
      const error = dialect.decodeError(401, {}, '{"error":{"message":"Incorrect API key provided: sk-proj-abcdefghijklmnop"}}', target)
      expect(JSON.stringify([error.message, error.details])).not.toContain('abcdefghijklmnop')
    })
  })
}
