import { describe, expect, it } from 'vitest'
import { ApiError } from '../../api/client.ts'
import { elsewhere, problemAt, refusedFields } from './problems.ts'

describe('a refusal', () => {
  it('stands at the field it names, which it need not name again', () => {
    expect(refusedFields(new ApiError(400, 'invalid_request', 'config.url: must be an address', 'config.url'))).toEqual({
      'config.url': 'must be an address',
    })
    expect(refusedFields(new ApiError(403, 'permission_denied', 'Privacy settings are locked', 'privacy_mode'))).toEqual({
      privacy_mode: 'Privacy settings are locked',
    })
  })

  it('that names no field stands at none', () => {
    expect(refusedFields(new ApiError(409, 'conflict', 'There are five of this type already.'))).toEqual({})
    expect(refusedFields(new Error('other'))).toEqual({})
    expect(refusedFields(null)).toEqual({})
  })
})

it('a problem of a part is one of the whole, and names the part', () => {
  const problems = { 'config.headers.host': 'this header is set by the gateway', 'config.urls': 'other' }
  expect(problemAt(problems, 'config.headers')).toBe('host: this header is set by the gateway')
  expect(problemAt(problems, 'config.headers.host')).toBe('this header is set by the gateway')
  expect(problemAt(problems, 'config.url')).toBeUndefined()
})

it('what a form has no place for is not lost', () => {
  expect(elsewhere({ 'config.new': 'missing', 'config.url.host': 'bad', name: 'is needed' }, ['config.url', 'name'])).toEqual(['config.new: missing'])
})
