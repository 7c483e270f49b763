import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { JsonWriter } from './json-writer.ts'

/** A list of texts as JSON. */
function write(texts: readonly string[]): string {
  const out = new JsonWriter()
  texts.forEach((text, i) => {
    out.raw(i === 0 ? '[' : ',')
    out.text(text)
  })
  out.raw(texts.length === 0 ? '[]' : ']')
  return out.finish().toString()
}

describe('JsonWriter', () => {
  it('writes any texts as JSON.stringify does', () => {
    const text = fc.oneof(fc.string({ unit: 'binary', maxLength: 100 }), fc.string({ unit: 'grapheme', maxLength: 200 }))
    fc.assert(
      fc.property(fc.array(text, { maxLength: 20 }), (texts) => {
        expect(write(texts)).toBe(JSON.stringify(texts))
      }),
    )
  })

  it('writes a long text each time it comes, in a row or not', () => {
    const long = `${'"quoted" and ä, 😀 '.repeat(20)}\n`
    const texts = [long, long, 'short', long, `${long}other`, long, 'short', long, long]
    expect(write(texts)).toBe(JSON.stringify(texts))
  })

  it('grows with what is written', () => {
    const texts = Array.from({ length: 300 }, (_, i) => String(i).repeat(500))
    expect(write(texts)).toBe(JSON.stringify(texts))
  })

  it('escapes half a surrogate pair', () => {
    expect(write(['\ud800', `${'x'.repeat(100)}\udfff`])).toBe(String.raw`["\ud800","${'x'.repeat(100)}\udfff"]`)
  })
})
