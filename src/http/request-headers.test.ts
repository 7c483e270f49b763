import type { IncomingMessage } from 'node:http'
import { describe, expect, it } from 'vitest'
import { sessionHeader, textHeader } from './request-headers.ts'

const request = (headers: IncomingMessage['headers']): IncomingMessage => ({ headers }) as IncomingMessage

describe('headers as text', () => {
  it('are cut, but for a session, which is refused by its whole length', () => {
    const long = request({ 'x-session-id': 's'.repeat(600), 'x-title': 't'.repeat(600) })
    expect(textHeader(long, 'x-title')).toHaveLength(512)
    expect(sessionHeader(long)).toHaveLength(600)
    expect(sessionHeader(request({ 'x-session-id': 'a\tb' }))).toBe('ab')
    expect(sessionHeader(request({ 'x-session-id': '' }))).toBeUndefined()
  })
})
