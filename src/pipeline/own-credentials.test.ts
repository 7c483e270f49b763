import { describe, expect, it } from 'vitest'
import type { OwnKey } from '../core/account.ts'
import type { Owner } from '../core/call.ts'
import type { ModelRequest } from '../core/request.ts'
import { Secret } from '../lib/secret.ts'
import { compileWildcards } from '../lib/wildcard.ts'
import { planRoute } from '../router/plan.ts'
import { testCatalog, testEndpoint } from '../testing/endpoints.ts'
import { ownCredentialsOf, type OwnCredentials } from './own-credentials.ts'

const owner: Owner = { workspaceId: 'w', keyHash: 'h', keyName: '', keyLabel: '', userId: 'u' }
const key = (id: string, more: Partial<OwnKey> = {}): OwnKey => ({
  id,
  provider: 'acme',
  secret: new Secret(`sk-${id}`),
  isFallback: false,
  allowedModels: null,
  allowedKeyHashes: null,
  allowedUserIds: null,
  ...more,
})
const ring = (...keys: readonly OwnKey[]) => ({ of: (workspaceId: string) => (workspaceId === 'w' && keys.length > 0 ? keys : undefined) })
const acme = testEndpoint({ provider: 'acme', pricing: { input: 10, output: 10 } })
const other = testEndpoint({ provider: 'other', pricing: { input: 1, output: 1 } })
const idsFor = (own: OwnCredentials | undefined) => own?.of(acme).map(({ id }) => id)

describe('the own keys a call may use', () => {
  it('are those of its workspace, its key and its user', () => {
    expect(ownCredentialsOf(ring(key('a')), { ...owner, workspaceId: 'another' })).toBeUndefined()
    expect(ownCredentialsOf(ring(), owner)).toBeUndefined()
    const keys = [
      key('everyone'),
      key('this key', { allowedKeyHashes: new Set(['h']) }),
      key('another key', { allowedKeyHashes: new Set(['g']) }),
      key('this user', { allowedUserIds: new Set(['u']) }),
      key('another user', { allowedUserIds: new Set(['v']) }),
    ]
    expect(idsFor(ownCredentialsOf(ring(...keys), owner))).toEqual(['everyone', 'this key', 'this user'])
    const { userId: _, ...anonymous } = owner
    expect(idsFor(ownCredentialsOf(ring(...keys), anonymous))).toEqual(['everyone', 'this key'])
  })

  it('serve models they allow by an alias or with a variant', () => {
    const own = ownCredentialsOf(ring(key('a', { allowedModels: compileWildcards(['small', 'acme/large:free']) })), owner)!
    expect(own.use(testEndpoint({ model: 'acme/small', aliases: ['small'] }))).toBe('first')
    expect(own.use(testEndpoint({ model: 'acme/large', variant: 'free' }))).toBe('first')
    expect(own.use(testEndpoint({ model: 'acme/large' }))).toBeUndefined()
  })

  it('serve endpoints of their provider and the models they allow, by name or pattern', () => {
    const own = ownCredentialsOf(ring(key('a', { allowedModels: compileWildcards(['acme/*', 'beta/large']) })), owner)!
    const uses = (model: string, provider = 'acme') => own.use(testEndpoint({ model, provider }))
    expect([uses('acme/small'), uses('beta/large'), uses('beta/small'), uses('acme/small', 'other')]).toEqual([
      'first',
      'first',
      undefined,
      undefined,
    ])
  })

  it('are not used for an endpoint they do not allow, nor for one inside the gateway or paid by the operator anyway', () => {
    const keys = [key('elsewhere', { provider: 'other' }), key('large', { allowedModels: compileWildcards(['acme/large']) }), key('any')]
    const own = ownCredentialsOf(ring(...keys), owner)!
    expect(idsFor(own)).toEqual(['any'])
    expect(own.of(other).map(({ id }) => id)).toEqual(['elsewhere'])
    const inside = { ...acme, connection: { ...acme.connection, transport: () => Promise.reject(new Error('none')) } } as unknown as typeof acme
    expect([own.use(inside), own.of(inside)]).toEqual([undefined, []])
    const paid = { ...acme, connection: { ...acme.connection, operatorPays: true as const } }
    expect([own.use(paid), own.of(paid)]).toEqual([undefined, []])
    expect(ownCredentialsOf(ring(key('a', { allowedKeyHashes: new Set(['g']) })), owner)).toBeUndefined()
  })

  it('are tried in their order, those for later last', () => {
    const own = ownCredentialsOf(ring(key('late', { isFallback: true }), key('first'), key('second')), owner)!
    expect(idsFor(own)).toEqual(['first', 'second', 'late'])
    expect(own.use(acme)).toBe('first')
    expect(ownCredentialsOf(ring(key('late', { isFallback: true })), owner)!.use(acme)).toBe('last')
  })
})

describe('a plan with own keys', () => {
  const plan = (own: OwnCredentials, provider: ModelRequest['provider'] = null) => {
    const request: ModelRequest = { model: 'acme/small', input: [], provider }
    const { attempts } = planRoute({ request, catalog: testCatalog([acme, other]), random: () => 0.5, now: 0, ownKeys: own.use })
    return attempts.map(({ endpoint, isByok }) => `${endpoint.provider}${isByok ? ' own' : ''}`)
  }

  it('goes to the own key first, whatever the price, then to shared capacity', () => {
    expect(plan(ownCredentialsOf(ring(key('a')), owner)!)).toEqual(['acme own', 'other', 'acme'])
  })
  it('goes to a key for later when shared capacity has failed', () => {
    expect(plan(ownCredentialsOf(ring(key('a', { isFallback: true })), owner)!)).toEqual(['other', 'acme', 'acme own'])
  })
  it('never leaves the own key for shared capacity when fallbacks are not allowed', () => {
    expect(plan(ownCredentialsOf(ring(key('a')), owner)!, { allow_fallbacks: false })).toEqual(['acme own'])
  })
  it('obeys the policies of the call before it looks at own keys', () => {
    expect(plan(ownCredentialsOf(ring(key('a')), owner)!, { ignore: ['acme'] })).toEqual(['other'])
  })
})
