import { describe, expect, it } from 'vitest'
import { GatewayError } from '../core/error.ts'
import type { Connection, Credential } from '../core/provider.ts'
import { Secret } from '../lib/secret.ts'
import { manualClock } from '../testing/deterministic.ts'
import { createCredentialPools } from './credential-pool.ts'

const credential = (id: string): Credential => ({ id, secret: new Secret(`secret ${id}`) })
const connection = (...ids: string[]): Connection =>
  ({ provider: 'acme', providerName: 'Acme', credentials: ids.map(credential) }) as unknown as Connection
const dead = new GatewayError('authentication', 'no', { source: 'provider', upstreamStatus: 401, credentialDead: true })
const limited = (retryAfterMs?: number) =>
  new GatewayError('rate_limit_exceeded', 'slow', { source: 'provider', ...(retryAfterMs === undefined ? {} : { retryAfterMs }) })
const NONE: ReadonlySet<string> = new Set()

describe('a pool of credentials', () => {
  const open = (cooldown = true) => {
    const clock = manualClock()
    return { clock, pools: createCredentialPools(clock, cooldown) }
  }
  const turns = (pools: ReturnType<typeof open>['pools'], acme: Connection, n: number) =>
    Array.from({ length: n }, () => pools.pick(acme, NONE)?.id).join('')

  it('uses valid ones in rotation', () => {
    const { pools } = open()
    expect(turns(pools, connection('a', 'b', 'c'), 6)).toBe('abcabc')
  })

  it('needs none for a server without authentication', () => {
    expect(open().pools.pick(connection(), NONE)).toBeUndefined()
  })

  it('sets a rate limited one aside until its hint has passed, and uses it when nothing else is left', () => {
    const { clock, pools } = open()
    const acme = connection('a', 'b')
    pools.report(acme, acme.credentials[0]!, limited(5_000))
    expect(turns(pools, acme, 3)).toBe('bbb')
    expect(pools.pick(acme, new Set(['b']))?.id).toBe('a')
    clock.advance(5_000)
    expect(turns(pools, acme, 2)).toBe('ab')
  })

  it('keeps one in rotation that failed for reasons of its server', () => {
    const { pools } = open()
    const acme = connection('a', 'b')
    pools.report(acme, acme.credentials[0]!, new GatewayError('provider_unavailable', 'down', { source: 'provider', upstreamStatus: 502 }))
    expect(turns(pools, acme, 4)).toBe('abab')
    expect(pools.hasLive(connection('a'))).toBe(true)
  })

  it('is usable while one of several is', () => {
    const { clock, pools } = open()
    const acme = connection('a', 'b')
    pools.report(acme, acme.credentials[0]!, limited(5_000))
    expect(pools.hasLive(acme)).toBe(true)
    pools.report(acme, acme.credentials[1]!, dead)
    expect(pools.hasLive(acme)).toBe(false)
    clock.advance(5_000)
    expect(pools.hasLive(acme)).toBe(true)
  })

  it('sets one that is rate limited without a hint aside for ten seconds', () => {
    const { clock, pools } = open()
    const acme = connection('a', 'b')
    pools.report(acme, acme.credentials[0]!, limited())
    clock.advance(9_999)
    expect(turns(pools, acme, 2)).toBe('bb')
    clock.advance(1)
    expect(turns(pools, acme, 2)).toContain('a')
  })

  it('does not return one sooner because of a second, shorter limit', () => {
    const { clock, pools } = open()
    const acme = connection('a', 'b')
    for (const hint of [60_000, 5_000, undefined]) pools.report(acme, acme.credentials[0]!, limited(hint))
    clock.advance(59_999)
    expect(turns(pools, acme, 2)).toBe('bb')
    clock.advance(1)
    expect(turns(pools, acme, 2)).toContain('a')
  })

  it('reports an invalid one of its own once, and none of a caller', () => {
    const clock = manualClock()
    const told: string[] = []
    const pools = createCredentialPools(clock, true, ({ provider }, { id }, { errorType }) => told.push(`${provider} ${id} ${errorType}`))
    const acme = connection('a', 'b')
    for (const one of [acme.credentials[0]!, acme.credentials[0]!, credential('own')]) pools.report(acme, one, dead)
    expect(told).toEqual(['acme a authentication'])
    clock.advance(60_000)
    pools.report(acme, acme.credentials[0]!, dead)
    expect(told).toHaveLength(2)
  })

  it('does not use an invalid one, and tries it again after a minute', () => {
    const { clock, pools } = open()
    const acme = connection('a', 'b')
    for (const one of acme.credentials) pools.report(acme, one, dead)
    expect(() => pools.pick(acme, NONE)).toThrow(
      expect.objectContaining({
        errorType: 'provider_unavailable',
        details: expect.objectContaining({ metadata: { reason: 'upstream_credentials_exhausted' } }),
      }),
    )
    expect(pools.hasOther(acme, NONE)).toBe(false)
    clock.advance(60_000)
    expect(turns(pools, acme, 2)).toBe('ab')
  })

  it('retries an invalid one every five seconds, one call at a time, where no other endpoint can serve', () => {
    const { clock, pools } = open()
    const acme = connection('a', 'b')
    const again = (tried = NONE): string | undefined => pools.pickDead(acme, tried)?.id
    expect(again()).toBeUndefined()
    for (const one of acme.credentials) pools.report(acme, one, dead)
    clock.advance(4_999)
    expect(again()).toBeUndefined()
    clock.advance(1)
    expect([again(new Set(['a'])), again(), again()]).toEqual(['b', 'a', undefined])
    pools.report(acme, acme.credentials[0]!, dead)
    pools.served(acme, acme.credentials[1]!)
    expect(turns(pools, acme, 2)).toBe('bb')
    clock.advance(5_000)
    expect([again(), again()]).toEqual(['a', undefined])
  })

  it('knows which were tried in this call', () => {
    const { pools } = open()
    const acme = connection('a', 'b')
    expect(pools.hasOther(acme, new Set(['a']))).toBe(true)
    expect(pools.pick(acme, new Set(['a']))?.id).toBe('b')
    expect(pools.hasOther(acme, new Set(['a', 'b']))).toBe(false)
  })

  it('remembers nothing when cooldown is off, and forgets on reload', () => {
    const off = open(false).pools
    const acme = connection('a')
    off.report(acme, acme.credentials[0]!, dead)
    expect(off.pick(acme, NONE)?.id).toBe('a')
    const on = open().pools
    on.report(acme, acme.credentials[0]!, dead)
    on.reset()
    expect(on.pick(acme, NONE)?.id).toBe('a')
  })

  it('tries the caller’s own keys in their order, whatever the pool does', () => {
    const { pools } = open()
    const acme = connection('a', 'b')
    const own = [credential('x'), credential('y')]
    expect(turns(pools, acme, 1)).toBe('a')
    expect([1, 2, 3].map(() => pools.pick(acme, NONE, own)?.id)).toEqual(['x', 'x', 'x'])
    expect(turns(pools, acme, 1)).toBe('b')
    expect(pools.hasOther(acme, new Set(['x', 'y']), own)).toBe(false)
    pools.report(acme, own[0]!, dead)
    expect(pools.pick(acme, NONE, own)?.id).toBe('y')
    pools.report(acme, own[1]!, dead)
    expect(() => pools.pick(acme, NONE, own)).toThrow(
      expect.objectContaining({ details: expect.objectContaining({ metadata: { reason: 'own_keys_exhausted' } }) }),
    )
    expect(turns(pools, acme, 2)).toBe('ab')
  })

  it('uses a replaced key of the caller at once', () => {
    const { pools } = open()
    const acme = connection('a')
    const [before, after] = ['mistyped', 'right'].map((text) => [{ id: 'x', secret: new Secret(text) }])
    pools.report(acme, before![0]!, dead)
    expect(() => pools.pick(acme, NONE, before)).toThrow()
    expect(pools.pick(acme, NONE, after)).toBe(after![0])
    expect(pools.hasOther(acme, NONE, after)).toBe(true)
  })
})
