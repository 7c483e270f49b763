import { describe, expect, it } from 'vitest'
import { isGatewayError } from '../../core/error.ts'
import type { GatewayError } from '../../core/error.ts'
import type { ModelEvent } from '../../core/event.ts'
import { chatTarget } from './__fixtures__/target.ts'
import { ChatDecoder } from './stream.ts'

const text = { choices: [{ index: 0, delta: { content: 'Half an' } }] }
const failed = (code: number, message: string): object => ({ choices: null, base_resp: { status_code: code, status_msg: message } })

function failureOf(run: (decoder: ChatDecoder, out: ModelEvent[]) => void): GatewayError | undefined {
  try {
    run(new ChatDecoder({ input: [] }, chatTarget()), [])
    return undefined
  } catch (error) {
    if (!isGatewayError(error)) throw error
    return error
  }
}
const streamed = (...frames: readonly object[]): GatewayError | undefined =>
  failureOf((decoder, out) => {
    for (const frame of [...frames.map((each) => JSON.stringify(each)), '[DONE]']) decoder.push(frame, undefined, out)
    decoder.end(out)
  })
const whole = (body: object): GatewayError | undefined => failureOf((decoder, out) => decoder.body(JSON.stringify(body), out))

describe('a status inside of an answer of HTTP status 200', () => {
  it.each([
    [1008, 'insufficient balance', 'payment_required'],
    [1002, 'rate limit', 'rate_limit_exceeded'],
    [2049, 'invalid api key', 'authentication'],
    [1000, '', 'provider_unavailable'],
  ])('fails the answer: %d %s', (code, message, type) => {
    expect(whole(failed(code, message))).toMatchObject({ errorType: type })
    expect(streamed(failed(code, message))).toMatchObject({ errorType: type })
  })

  it('fails a stream that had begun, whatever end mark follows', () => {
    expect(streamed(text, failed(1027, 'output content error'))?.message).toContain('output content error')
  })

  it('says nothing where it is zero, or no status', () => {
    const fine = { choices: [{ index: 0, delta: {}, message: { content: 'x' }, finish_reason: 'stop' }] }
    for (const status of [0, null, '1000']) expect(streamed(text, { ...fine, base_resp: { status_code: status, status_msg: '' } })).toBeUndefined()
  })
})
