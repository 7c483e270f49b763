import { describe, expect, it } from 'vitest'
import type { ModelRequest } from '../../core/request.ts'
import { withoutReasoning } from '../shared/without-reasoning.ts'
import { target } from './__fixtures__/harness.ts'
import { openAiResponses } from './index.ts'

const decodeError = (status: number, body: unknown, headers = {}): ReturnType<typeof openAiResponses.decodeError> =>
  openAiResponses.decodeError(status, headers, typeof body === 'string' ? body : JSON.stringify(body), target())

describe('decodeError', () => {
  it('classifies by content and names the provider', () => {
    expect(
      decodeError(400, { error: { message: 'Your input exceeds the context window of this model.', code: 'context_length_exceeded' } }),
    ).toMatchObject({ errorType: 'context_length_exceeded', details: { providerName: 'Acme', source: 'provider' } })
    expect(decodeError(429, { error: { message: 'Rate limit reached', code: 'rate_limit_exceeded' } }, { 'retry-after': '7' })).toMatchObject({
      errorType: 'rate_limit_exceeded',
      details: { retryAfterMs: 7000 },
    })
  })

  it.each([
    ['by code', { error: { code: 'invalid_encrypted_content', message: 'no' } }],
    ['by message', { error: { message: 'The encrypted content gAAA... could not be verified.', type: 'invalid_request_error' } }],
  ])('asks for one more attempt without reasoning when the upstream cannot read it (%s)', (_, body) => {
    expect(decodeError(400, body)).toMatchObject({ failover: 'retry', details: { metadata: { strip_reasoning: true } } })
  })

  it('asks for nothing of the kind otherwise', () => {
    expect(
      decodeError(400, { error: { message: 'Unsupported value', code: 'unsupported_value' } }).details.metadata?.['strip_reasoning'],
    ).toBeUndefined()
  })
})

describe('withoutReasoning', () => {
  const said = { type: 'message', role: 'assistant', content: 'x' } as const

  it('removes reasoning items and nothing else', () => {
    const request: ModelRequest = { input: [{ type: 'reasoning', summary: [] }, said], reasoning: { effort: 'low' } }
    expect(withoutReasoning(request)).toEqual({ input: [said], reasoning: { effort: 'low' } })
    expect(request.input).toHaveLength(2)
  })

  it('gives the same request back when there is none', () => {
    const request: ModelRequest = { input: [said] }
    expect(withoutReasoning(request)).toBe(request)
  })
})
