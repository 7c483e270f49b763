import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { fromBase64, lengthOfBase64, toBase64 } from './float-vectors.ts'

const floats = fc.array(fc.float({ noNaN: true }), { minLength: 1, maxLength: 40 })

describe('vectors as base64', () => {
  test('are little-endian 32-bit floats, as clients of the format decode them', () => {
    const text = toBase64([1, -2.5, 0.1])
    const bytes = Buffer.from(text, 'base64')
    expect([...new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length))]).toEqual([1, -2.5, Math.fround(0.1)])
    expect(toBase64([1])).toBe('AACAPw==')
  })

  test('come back as they were, and tell how many they are', () => {
    fc.assert(
      fc.property(floats, (vector) => {
        const text = toBase64(vector)
        expect(fromBase64(text)).toEqual(vector)
        expect(lengthOfBase64(text)).toBe(vector.length)
      }),
    )
  })

  test.each(['', 'AAA', 'AACA', 'not base64', '{"a":1}', 'AACAPw==AACAPw=='])('%j holds none', (text) => {
    expect(fromBase64(text)).toBeUndefined()
    expect(lengthOfBase64(text)).toBeUndefined()
  })
})
