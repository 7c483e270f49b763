import type { IncomingMessage } from 'node:http'
import { describe, expect, it } from 'vitest'
import { originOf, sessionHeader, textHeader } from './request-headers.ts'

const request = (headers: IncomingMessage['headers']): IncomingMessage => ({ headers }) as IncomingMessage

describe('headers as text', () => {
  it('are cut, but for a session, which is refused by its whole length', () => {
    const long = request({ 'x-session-id': 's'.repeat(600), 'x-title': 't'.repeat(600) })
    expect(textHeader(long, 'x-title')).toHaveLength(512)
    expect(sessionHeader(long)).toHaveLength(600)
    expect(sessionHeader(request({ 'x-session-id': 'a\tb' }))).toBe('ab')
    expect(sessionHeader(request({ 'x-session-id': '' }))).toBeUndefined()
    expect(sessionHeader(request({}))).toBeUndefined()
  })
  it('are read as UTF-8 where they are that, else as Latin-1, and never cut within a character', () => {
    const sent = (text: string, encoding: 'utf8' | 'latin1') => request({ 'x-title': Buffer.from(text, encoding).toString('latin1') })
    for (const text of ['naïve', '会话 → 😀']) expect(textHeader(sent(text, 'utf8'), 'x-title')).toBe(text)
    expect(textHeader(sent('naïve', 'latin1'), 'x-title')).toBe('naïve')
    expect(textHeader(sent('a😀'.repeat(3), 'utf8'), 'x-title', 5)).toBe('a😀a')
  })
})

describe('where a call comes from', () => {
  const titleOf = (headers: IncomingMessage['headers']) => originOf(request(headers), 'responses').title

  it('is named by the program itself, under either name of the header', () => {
    expect(titleOf({ 'x-title': 'Old' })).toBe('Old')
    expect(titleOf({ 'x-openrouter-title': 'New' })).toBe('New')
    expect(titleOf({ 'x-openrouter-title': 'New', 'x-title': 'Old' })).toBe('New')
    expect(titleOf({ 'x-openrouter-title': '', 'x-title': 'Old' })).toBe('Old')
    expect(titleOf({})).toBeUndefined()
  })
})
