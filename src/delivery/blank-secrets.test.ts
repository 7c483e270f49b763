import { describe, expect, it } from 'vitest'
import { classifyOtlp } from '../destinations/shared/otlp-classify.ts'
import { threadTime } from '../testing/thread-time.ts'
import { createBlanking } from './blank-secrets.ts'

const type = { secrets: ['apiKey', 'headers.*'] }
const settings = { apiKey: 'key-ä-0123456789', project: 'public-project', headers: { 'x-token': 'header"quoted"value', 'x-flag': 'on' } }
const blanked = (body: string | Buffer, headers: { readonly [name: string]: string } = {}) => {
  const response = createBlanking(type, settings)({ status: 400, headers, body: Buffer.from(body) })
  return { ...response, body: response.body.toString() }
}

describe('an answer', () => {
  it('is stripped of the secrets of its destination, anywhere in the text', () => {
    expect(blanked('no key-ä-0123456789, thrice key-ä-0123456789', { 'x-error': 'bad header"quoted"value' })).toEqual({
      status: 400,
      headers: { 'x-error': 'bad [redacted]' },
      body: 'no [redacted], thrice [redacted]',
    })
  })

  it('is stripped of them in JSON escapes, too', () => {
    expect(blanked(JSON.stringify({ echo: settings })).body).toBe(
      '{"echo":{"apiKey":"[redacted]","project":"public-project","headers":{"x-token":"[redacted]","x-flag":"on"}}}',
    )
  })

  it.each([
    ['with characters as numbers', String.raw`{"echo":"header\u0022quoted\u0022value"}`, '{"echo":"[redacted]"}'],
    ['as in an address', 'no POST /?token=header%22quoted%22value', 'no POST /?token=[redacted]'],
  ])('is stripped of them %s', (_how, body, left) => {
    expect(blanked(body).body).toBe(left)
  })

  it('keeps everything else, byte for byte', () => {
    const body = Buffer.from([0, 255, 128, 10, ...Buffer.from('public-project on')])
    expect(createBlanking(type, settings)({ status: 200, headers: {}, body }).body).toBe(body)
    const around = Buffer.concat([body, Buffer.from(settings.apiKey), body])
    expect(createBlanking(type, settings)({ status: 200, headers: {}, body: around }).body).toEqual(
      Buffer.concat([body, Buffer.from('[redacted]'), body]),
    )
  })

  it('is stripped of them at the same length in protobuf, where lengths of texts are part of the message', () => {
    const remark = 'tenant header"quoted"value has too many traces; key key-ä-0123456789'
    const text = Buffer.from(remark)
    const inner = Buffer.from([0x08, 3, 0x12, text.length, ...text])
    const body = Buffer.from([0x0a, inner.length, ...inner])
    const { body: left } = createBlanking(type, settings)({ status: 200, headers: { 'content-type': 'application/x-protobuf' }, body })
    expect(left.toString()).toMatch(/tenant \*{19} has too many traces; key \*{17}$/)
    expect(classifyOtlp({ status: 200, headers: { 'content-type': 'application/x-protobuf' }, body: left })).toEqual({
      kind: 'partial',
      rejectedCount: 3,
      message: `tenant ${'*'.repeat(19)} has too many traces; key ${'*'.repeat(17)}`,
    })
  })

  it('keeps its format, which a header of the destination may ask for', () => {
    const asking = { ...settings, headers: { accept: 'application/x-protobuf' } }
    const headers = { 'content-type': 'application/x-protobuf', 'x-error': 'only application/x-protobuf' }
    expect(createBlanking(type, asking)({ status: 200, headers, body: Buffer.alloc(0) }).headers).toEqual({
      'content-type': 'application/x-protobuf',
      'x-error': 'only [redacted]',
    })
  })

  it('is searched in linear time, whatever the answer and the secret are', () => {
    const secret = `${'a'.repeat(4_000)}b${'a'.repeat(3_999)}`
    const body = Buffer.alloc(2_000_000, 'a')
    const began = threadTime()
    expect(createBlanking(type, { ...settings, headers: { 'x-token': secret } })({ status: 200, headers: {}, body }).body).toBe(body)
    expect(threadTime() - began).toBeLessThan(500)
  })
})
