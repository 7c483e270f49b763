import { describe, expect, it } from 'vitest'
import { ApiError } from '../../api/client.ts'
import { elsewhere, problemAt, refusedFields } from './problems.ts'

describe('an error', () => {
  it('is shown at the field it names, without repeating the name', () => {
    expect(refusedFields(new ApiError(400, 'invalid_request', 'config.url: must be an address', 'config.url'))).toEqual({
      'config.url': 'must be an address',
    })
    expect(refusedFields(new ApiError(403, 'permission_denied', 'Privacy settings are locked', 'privacy_mode'))).toEqual({
      privacy_mode: 'Privacy settings are locked',
    })
  })

  it('that names no field is shown at none', () => {
    expect(refusedFields(new ApiError(409, 'conflict', 'There are five of this type already.'))).toEqual({})
    expect(refusedFields(new Error('other'))).toEqual({})
    expect(refusedFields(null)).toEqual({})
  })
})

it('a problem in a nested value is shown at the whole field, and names the nested value', () => {
  const problems = { 'config.headers.host': 'this header is set by the gateway', 'config.urls': 'other' }
  expect(problemAt(problems, 'config.headers')).toBe('host: this header is set by the gateway')
  expect(problemAt(problems, 'config.headers.host')).toBe('this header is set by the gateway')
  expect(problemAt(problems, 'config.url')).toBeUndefined()
})

it('an error about a field that the form does not have is not lost', () => {
  expect(elsewhere({ 'config.new': 'missing', 'config.url.host': 'bad', name: 'is needed' }, ['config.url', 'name'])).toEqual(['config.new: missing'])
})
