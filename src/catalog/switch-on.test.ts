import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { Provider } from '../core/provider.ts'
import { howToSwitchOn, switchOnOf } from './switch-on.ts'

const hosted: Provider = {
  slug: 'acme',
  name: 'Acme',
  dialect: 'openai-chat',
  baseUrl: 'https://api.example.com/v1',
  env: { apiKey: ['ACME_KEY', 'ACME_TOKEN'] },
}
const local: Provider = { ...hosted, keyless: true, env: { apiKey: ['BOX_KEY'], baseUrl: ['BOX_URL'] } }
const { baseUrl: _, ...nowhere } = hosted
const account: Provider = {
  ...nowhere,
  env: { apiKey: ['ACME_KEY'], settings: { account: ['ACME_ACCOUNT'], zone: ['ACME_ZONE'] } },
  settings: z.strictObject({ account: z.string(), zone: z.string().optional() }),
}
const either: Provider = {
  ...nowhere,
  env: { apiKey: ['ACME_KEY'], baseUrl: ['ACME_URL'], settings: { resource: ['ACME_RESOURCE'] } },
  settings: z.strictObject({ resource: z.string().optional() }),
  connect: ({ extra }) => (extra['resource'] === undefined ? {} : { baseUrl: 'https://x.example.com' }),
}
const none: Provider = { ...hosted, env: {} }

describe('what switches a provider on', () => {
  it('is a key, or the address of a server that needs none', () => {
    expect(switchOnOf(hosted)).toEqual({ variables: ['ACME_KEY', 'ACME_TOKEN'], needs: [], takes: [] })
    expect(switchOnOf(local)).toEqual({ variables: ['BOX_URL'], needs: [], takes: [] })
  })

  it('includes the variables that its URL is made of', () => {
    expect(switchOnOf(account).needs).toEqual([{ setting: 'account', variables: ['ACME_ACCOUNT'] }])
    expect(switchOnOf(either).needs).toEqual([{ setting: 'resource or base_url', variables: ['ACME_RESOURCE', 'ACME_URL'] }])
  })

  it('is listed with the other variables it reads', () => {
    expect(switchOnOf(account).takes).toEqual([{ setting: 'zone', variables: ['ACME_ZONE'] }])
    expect(switchOnOf(either).takes).toEqual([])
  })

  it.each<[Provider, { readonly [name: string]: string }, string]>([
    [hosted, {}, 'set ACME_KEY'],
    [local, {}, 'set BOX_URL'],
    [account, {}, 'set ACME_KEY and ACME_ACCOUNT'],
    [account, { ACME_KEY: 'k' }, 'set ACME_ACCOUNT'],
    [either, { ACME_KEY: 'k' }, 'set ACME_RESOURCE'],
    [account, { ACME_KEY: 'k', ACME_ACCOUNT: 'not one' }, 'its settings are wrong, as signalbox check says'],
    [none, {}, 'add an entry for it under providers'],
  ])('in words (%#)', (provider, env, words) => {
    expect(howToSwitchOn(provider, env)).toBe(words)
  })
})
