import { describe, expect, it } from 'vitest'
import type { ApiKey } from '../core/store.ts'
import { sampleKey } from '../testing/sample-records.ts'
import { earlierSecretsOf, secretsOf } from '../core/api-key.ts'
import { rotation, withoutGrace } from './key-rotation.ts'

const NOW = 1_800_000_000_000
const HOUR = 3_600_000

/** A key that was rotated once for each grace period, an hour apart. The secrets are `id`, `s1`, `s2` and so on. */
function rotatedFor(...graces: readonly number[]): ApiKey {
  let key = sampleKey('id')
  graces.forEach((graceMs, n) => {
    const { secrets, label } = rotation(key, { hash: `s${n + 1}`, label: `label ${n + 1}` }, graceMs, NOW + n * HOUR)
    key = { ...key, secrets: secrets!, label: label! }
  })
  return key
}
const working = (key: ApiKey, at: number): readonly string[] =>
  secretsOf(key)
    .filter(({ endsAt }) => endsAt === null || endsAt > at)
    .map(({ hash }) => hash)

describe('a rotation', () => {
  it('adds a secret and lets the earlier one work for the grace period', () => {
    const key = rotatedFor(HOUR)
    expect(key).toMatchObject({ hash: 'id', label: 'label 1' })
    expect(key.secrets).toEqual([
      { hash: 'id', label: sampleKey('id').label, endsAt: NOW + HOUR },
      { hash: 's1', label: 'label 1', endsAt: null },
    ])
    expect([working(key, NOW + HOUR - 1), working(key, NOW + HOUR)]).toEqual([['id', 's1'], ['s1']])
    expect(earlierSecretsOf(key, NOW).map(({ hash }) => hash)).toEqual(['id'])
  })

  it('without a grace period ends every earlier secret, whatever was promised before, and whatever the clock says', () => {
    const key = rotatedFor(100 * HOUR, 0)
    expect(working(key, 1)).toEqual(['s2'])
  })

  it('does not lengthen the life of earlier secrets', () => {
    expect(working(rotatedFor(2 * HOUR, 100 * HOUR), NOW + 3 * HOUR)).toEqual(['s1', 's2'])
  })

  it('is refused while too many earlier secrets work', () => {
    const five = rotatedFor(...Array.from({ length: 5 }, () => 100 * HOUR))
    expect(working(five, NOW)).toHaveLength(6)
    const again = (graceMs: number) => rotation(five, { hash: 's6', label: 'label' }, graceMs, NOW + 5 * HOUR)
    expect(() => again(HOUR)).toThrow('The key has 5 earlier secrets that still work')
    expect(working({ ...five, ...again(0), origin: 'generated' }, NOW + 5 * HOUR)).toEqual(['s6'])
  })

  it('never forgets the secret that is the id of the key, and only some of the others that ended', () => {
    const key = rotatedFor(...Array.from({ length: 30 }, () => 0))
    const hashes = secretsOf(key).map(({ hash }) => hash)
    expect(hashes).toHaveLength(12)
    expect([hashes[0], hashes[1], hashes.at(-1)]).toEqual(['id', 's20', 's30'])
    expect(working(key, NOW)).toEqual(['s30'])
  })

  it.each([
    [{ revokedAt: 1 }, 'is revoked'],
    [{ expiresAt: NOW }, 'has expired'],
    [{ origin: 'environment', name: 'SIGNALBOX_API_KEY' }, 'comes from the variable SIGNALBOX_API_KEY'],
  ] as const)('of a key with %j is refused', (more, words) => {
    expect(() => rotation(sampleKey('id', more), { hash: 's1', label: 'l' }, 0, NOW)).toThrow(words)
  })
})

it('the end of a grace period leaves the newest secret', () => {
  const key = rotatedFor(100 * HOUR, 100 * HOUR)
  expect(working({ ...key, ...withoutGrace(key), origin: 'generated' }, NOW)).toEqual(['s2'])
  expect(withoutGrace(sampleKey('id'))).toEqual({})
})
