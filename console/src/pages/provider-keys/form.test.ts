import { expect, it } from 'vitest'
import type { BYOKKey } from '../../api/schema.ts'
import { createProviderKeyBody, narrowedTo, newProviderKeyForm, providerKeyChanges, providerKeyFormOf } from './form.ts'

const own = {
  id: '1',
  provider: 'acme',
  name: 'account',
  is_fallback: false,
  allowed_models: ['a/*'],
  allowed_api_key_hashes: null,
  allowed_user_ids: ['u1', 'u2'],
} as unknown as BYOKKey

it('a new provider key is sent with its secret, and without restrictions that are empty', () => {
  expect(createProviderKeyBody({ ...newProviderKeyForm('', 'acme'), secret: 'sk-1' })).toEqual({ provider: 'acme', key: 'sk-1', is_fallback: false })
  expect(createProviderKeyBody({ ...newProviderKeyForm('w1', 'acme'), secret: 'sk-1', name: ' a ', models: ['x'], fallback: true })).toEqual({
    provider: 'acme',
    key: 'sk-1',
    workspace_id: 'w1',
    name: 'a',
    is_fallback: true,
    allowed_models: ['x'],
  })
})

it('a change sends the secret only if a new one was typed', () => {
  const form = providerKeyFormOf(own)
  expect(providerKeyChanges(own, form)).toEqual({})
  expect(providerKeyChanges(own, { ...form, secret: 'sk-2' })).toEqual({ key: 'sk-2' })
})

it('a change of lists sends them whole, and null for those that were emptied', () => {
  const form = providerKeyFormOf(own)
  expect(providerKeyChanges(own, { ...form, name: '', models: [], users: ['u1'] })).toEqual({
    name: null,
    allowed_models: null,
    allowed_user_ids: ['u1'],
  })
})

it('the restrictions on who may use a key are summarised in a few words', () => {
  expect(narrowedTo(own)).toBe('1 model, 2 users')
  expect(narrowedTo({ ...own, allowed_models: null, allowed_user_ids: null })).toBeUndefined()
})
