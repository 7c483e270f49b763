import { describe, expect, it } from 'vitest'
import { randomId } from '../lib/id.ts'
import { Secret } from '../lib/secret.ts'
import { generateKey, hashKey, labelOf } from './api-key.ts'
import { verifies } from '../../e2e/requirements.ts'

describe('an API key', () => {
  it.each([
    ['inference', /^sk-sb-v1-[0-9A-Za-z]{64}$/],
    ['management', /^sk-sb-mgmt-v1-[0-9A-Za-z]{64}$/],
  ] as const)('of kind %s says so and is random', (kind, shape) => {
    const keys = Array.from({ length: 50 }, () => generateKey(kind, randomId).reveal())
    for (const key of keys) expect(key).toMatch(shape)
    expect(new Set(keys).size).toBe(50)
  })

  it(verifies('F4', 'is known by its SHA-256'), () => {
    expect(hashKey('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad')
  })

  it.each([
    ['sk-sb-v1-0f3' + 'x'.repeat(58) + '9ab', 'sk-sb-v1-0f3...9ab'],
    ['sk-sb-mgmt-v1-0f3' + 'x'.repeat(58) + '9ab', 'sk-sb-mgmt-v1-0f3...9ab'],
    // A key that the operator chose: at most a quarter of it is shown.
    ['my-own-key-of-twenty-four', 'my-...our'],
    ['sixteen-chars-ok', 'si...ok'],
    ['short', '...'],
  ])('%s is shown as %s', (key, label) => {
    expect(labelOf(new Secret(key))).toBe(label)
  })
})
