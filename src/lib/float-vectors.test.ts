import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { fromBase64, holdsNumbers, toBase64 } from './float-vectors.ts'

const floats = fc.array(fc.float({ noNaN: true }), { minLength: 1, maxLength: 40 })

describe('vectors as base64', () => {
  test('are little-endian 32-bit floats, as clients of the format decode them', () => {
    const text = toBase64([1, -2.5, 0.1])
    const bytes = Buffer.from(text, 'base64')
    expect([...new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length))]).toEqual([1, -2.5, Math.fround(0.1)])
    expect(toBase64([1])).toBe('AACAPw==')
  })

  test('come back as they were, and tell whether all of them are numbers', () => {
    fc.assert(
      fc.property(floats, (vector) => {
        const text = toBase64(vector)
        expect(fromBase64(text)).toEqual(vector)
        expect(holdsNumbers(text)).toBe(vector.every(Number.isFinite))
      }),
    )
  })

  test.each([NaN, Infinity, -Infinity])('%s is none, wherever it stands', (none) => {
    for (const place of [0, 1, 2]) expect(holdsNumbers(toBase64([1, 2, 3].with(place, none)))).toBe(false)
  })

  test.each(['', 'AAA', 'AACA', 'not base64', '{"a":1}', 'AACAPw==AACAPw=='])('%j holds none', (text) => {
    expect(fromBase64(text)).toBeUndefined()
    expect(holdsNumbers(text)).toBe(false)
  })
})
