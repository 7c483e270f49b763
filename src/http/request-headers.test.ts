import type { IncomingMessage } from 'node:http'
import { describe, expect, it } from 'vitest'
import { betasOf, metadataFields, originOf, requestIdOf, sessionHeader, streamPreferences, textHeader } from './request-headers.ts'

const request = (headers: IncomingMessage['headers']): IncomingMessage => ({ headers }) as IncomingMessage

describe('headers as text', () => {
  it('are shortened, except a session id, which is refused if it is too long', () => {
    const long = request({ 'x-session-id': 's'.repeat(600), 'x-title': 't'.repeat(600) })
    expect(textHeader(long, 'x-title')).toHaveLength(512)
    expect(sessionHeader(long)).toHaveLength(600)
    expect(sessionHeader(request({ 'x-session-id': 'a\tb' }))).toBe('ab')
    expect(sessionHeader(request({ 'x-session-id': '' }))).toBeUndefined()
    expect(sessionHeader(request({}))).toBeUndefined()
  })
  it('name a session by the first known header of a client where the gateway’s own is missing', () => {
    const others = ['x-first', 'x-second']
    const long = 's'.repeat(257)
    expect(sessionHeader(request({ 'x-second': 'two', 'x-first': 'one' }), others)).toBe('one')
    expect(sessionHeader(request({ 'x-second': 'two', 'x-first': '' }), others)).toBe('two')
    expect(sessionHeader(request({ 'x-second': 'two', 'x-first': long }), others)).toBe('two')
    expect(sessionHeader(request({ 'x-session-id': 'own', 'x-first': 'one' }), others)).toBe('own')
    expect(sessionHeader(request({ 'x-first': long }), others)).toBeUndefined()
    expect(sessionHeader(request({ 'x-first': 'one' }))).toBeUndefined()
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

  it('is named by the calling program, under either name of the header', () => {
    expect(titleOf({ 'x-title': 'Old' })).toBe('Old')
    expect(titleOf({ 'x-openrouter-title': 'New' })).toBe('New')
    expect(titleOf({ 'x-openrouter-title': 'New', 'x-title': 'Old' })).toBe('New')
    expect(titleOf({ 'x-openrouter-title': '', 'x-title': 'Old' })).toBe('Old')
    expect(titleOf({})).toBeUndefined()
  })

  it('includes user agent and referring page, if the caller sends them', () => {
    expect(originOf(request({}), 'messages')).toEqual({ apiType: 'messages' })
    const all = { 'user-agent': 'acme/1', referer: 'https://page', 'http-referer': 'https://app', 'x-title': 'App' }
    expect(originOf(request(all), 'responses')).toEqual({ apiType: 'responses', userAgent: 'acme/1', referer: 'https://app', title: 'App' })
    expect(originOf(request({ referer: 'https://page' }), 'responses').referer).toBe('https://page')
  })
})

describe('beta features', () => {
  it('come from any of the headers, each once', () => {
    const asked = request({ 'x-one': 'a-2025-01-01, b', 'x-two': 'b,, c.d ' })
    expect(betasOf(asked, ['x-one', 'x-two', 'x-three'])).toEqual(['a-2025-01-01', 'b', 'c.d'])
    expect(betasOf(asked, [])).toEqual([])
  })
  it('are valid names, in a bounded number', () => {
    const long = Array.from({ length: 100 }, (_, n) => `f${n}`).join()
    expect(betasOf(request({ 'x-one': long }), ['x-one'])).toHaveLength(32)
    expect(betasOf(request({ 'x-one': `a b, "c", ${'d'.repeat(129)}, \u00e9` }), ['x-one'])).toEqual([])
  })
})

describe('the id of a request', () => {
  it('is the caller’s where it is one word of ASCII', () => {
    for (const id of ['a', 'req_1:2/3', 'x'.repeat(128)]) expect(requestIdOf(request({ 'x-request-id': id }))).toBe(id)
  })
  it.each([undefined, '', 'a b', 'a, b', 'é', 'a\tb', 'x'.repeat(129)])('is not taken from %j', (id) => {
    expect(requestIdOf(request(id === undefined ? {} : { 'x-request-id': id }))).toBeUndefined()
  })
})

describe('stream options in headers', () => {
  it('are the operator’s defaults where the caller sends none', () => {
    expect(streamPreferences(request({}), false)).toEqual({ asEvents: false, errorEvent: false })
    expect(streamPreferences(request({}), true)).toEqual({ asEvents: false, errorEvent: true })
    expect(streamPreferences(request({}), false, 'event')).toEqual({ asEvents: true, errorEvent: false })
  })
  it('are values of a header, in upper or lower case', () => {
    const wished = { 'x-gateway-stream-failure': 'Continue', 'x-gateway-keep-alive': ' EVENT ', 'x-gateway-error-event': 'Off' }
    expect(streamPreferences(request(wished), true)).toEqual({ streamFailure: 'continue', asEvents: true, errorEvent: false })
    expect(streamPreferences(request({ 'x-gateway-keep-alive': 'comment', 'x-gateway-error-event': 'on' }), false)).toEqual({
      asEvents: false,
      errorEvent: true,
    })
  })
  it.each([
    ['x-gateway-stream-failure', 'expected fail, continue or buffer'],
    ['x-gateway-keep-alive', 'expected comment or event'],
    ['x-gateway-error-event', 'expected on or off'],
  ])('are refused with any other value: %s', (header, expected) => {
    for (const word of ['', 'yes', 'on, off'])
      expect(() => streamPreferences(request({ [header]: word }), false)).toThrow(
        expect.objectContaining({ errorType: 'invalid_request', message: `${header}: ${expected}`, details: { path: header } }),
      )
  })
})

describe('the routing metadata', () => {
  it.each([
    [{}, []],
    [{ 'x-gateway-experimental-metadata': 'enabled' }, ['gateway_metadata']],
    [{ 'x-openrouter-metadata': 'Enabled' }, ['openrouter_metadata']],
    [{ 'x-openrouter-experimental-metadata': 'enabled' }, ['openrouter_metadata']],
    [{ 'x-openrouter-metadata': 'enabled', 'x-openrouter-experimental-metadata': 'enabled' }, ['openrouter_metadata']],
    [{ 'x-gateway-experimental-metadata': 'enabled', 'x-openrouter-metadata': 'enabled' }, ['gateway_metadata', 'openrouter_metadata']],
    [{ 'x-gateway-experimental-metadata': 'disabled', 'x-openrouter-metadata': '' }, []],
  ])('is sent under the requested names: %j', (headers, fields) => expect(metadataFields(request(headers))).toEqual(fields))
})
