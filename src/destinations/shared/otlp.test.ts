import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decodeOtlpRequest } from '../../testing/decode-otlp.ts'
import { heldMemory } from '../../testing/held-memory.ts'
import { createAttributes, cutText } from './attributes.ts'
import { otlpJson } from './otlp-json.ts'
import { otlpProtobuf } from './otlp-protobuf.ts'
import type { OtlpGroup } from './otlp-spans.ts'

const value = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc.maxSafeInteger(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.boolean(),
  fc.array(fc.string(), { minLength: 1, maxLength: 4 }),
)
const attributes = fc.dictionary(fc.string({ minLength: 1 }), value, { minKeys: 1, maxKeys: 8 }).map((values) => {
  const set = createAttributes()
  for (const [key, v] of Object.entries(values)) set.any(key, v)
  return set.list()
})
const hex = (length: number): fc.Arbitrary<string> =>
  fc.string({ unit: fc.constantFrom(...'0123456789abcdef'.split('')), minLength: length, maxLength: length })
const nanos = fc.bigInt({ min: 1n, max: 2n ** 63n - 1n }).map(String)
const span = fc.record({
  traceId: hex(32),
  spanId: hex(16),
  parentSpanId: hex(16),
  name: fc.string({ minLength: 1, maxLength: 300 }),
  kind: fc.constantFrom(1 as const, 3 as const),
  start: nanos,
  end: nanos,
  attributes,
  events: fc.array(fc.record({ time: nanos, name: fc.string({ minLength: 1 }), attributes }), { maxLength: 2 }),
  status: fc.record({ code: fc.constantFrom(1 as const, 2 as const), message: fc.string() }),
})
const group: fc.Arbitrary<OtlpGroup> = fc.record({
  resource: attributes,
  scope: fc.record({ name: fc.string(), version: fc.string() }),
  spans: fc.array(span, { minLength: 1, maxLength: 3 }),
})

describe('OTLP', () => {
  // This test comes first, because the names of the other tests fill the cache.
  it('keeps no long names of a caller in memory', async () => {
    const attributes = (i: number) =>
      createAttributes()
        .any(`${i}${'x'.repeat(2_000_000)}`, i)
        .list()
    const groupOf = (i: number): OtlpGroup => ({ resource: attributes(i), scope: { name: 's', version: '1' }, spans: [] })
    otlpJson([groupOf(0)])
    const before = await heldMemory()
    for (let i = 1; i <= 20; i++) expect(otlpJson([groupOf(i)]).length).toBeGreaterThan(2_000_000)
    expect((await heldMemory()) - before).toBeLessThan(20_000_000)
  })

  it('says the same in JSON and in protobuf', () => {
    fc.assert(
      fc.property(fc.array(group, { minLength: 1, maxLength: 3 }), (groups) => {
        expect(decodeOtlpRequest(otlpProtobuf(groups))).toEqual(JSON.parse(otlpJson(groups).toString()))
      }),
      { numRuns: 150 },
    )
  })

  it('writes values as JSON every reader takes, without half a character', () => {
    const [attribute] = createAttributes().json('a', { 'k\udc00': 'cut \ud83d', whole: '\u{1f600}', text: '\\ud83d' }).list()
    expect(JSON.parse(String(attribute?.value))).toEqual({ 'k\ufffd': 'cut \ufffd', whole: '\u{1f600}', text: '\\ud83d' })
  })

  it('keeps whole numbers, fractions and nanoseconds apart', () => {
    const list = createAttributes()
      .any('a', 1)
      .any('b', 1.5)
      .double('c', 2)
      .any('d', 2 ** 60)
      .any('e', [1, 'x'])
      .any('f', null)
      .int('g', Number.NaN)
      .list()
    expect(list.map(({ key, kind }) => `${key}:${kind}`)).toEqual(['a:int', 'b:double', 'c:double', 'd:double', 'e:string'])
    expect(otlpJson([{ resource: list, scope: { name: 's', version: '1' }, spans: [] }]).toString()).toContain('{"key":"a","value":{"intValue":"1"}}')
  })

  it('cuts long values with a flag, and never half a character', () => {
    const [cut, flag] = createAttributes({ maxChars: 3 }).string('key', 'ab😀cd').list()
    expect(cut).toEqual({ key: 'key', kind: 'string', value: 'ab' })
    expect(flag).toEqual({ key: 'key.truncated', kind: 'bool', value: true })
    expect(cutText('abc', 3)).toBe('abc')
  })

  it('cuts the texts of a list, the list and names too, each with a flag that fits', () => {
    const strings = (values: readonly string[]) => createAttributes({ maxChars: 3, maxEntries: 2 }).any('tags', values).list()
    expect(strings(['a', 'b'])).toEqual([{ key: 'tags', kind: 'strings', value: ['a', 'b'] }])
    const flag = { key: 'tags.truncated', kind: 'bool', value: true }
    expect(strings(['long', 'b'])).toEqual([{ key: 'tags', kind: 'strings', value: ['lon', 'b'] }, flag])
    expect(strings(['a', 'b', 'c'])).toEqual([{ key: 'tags', kind: 'strings', value: ['a', 'b'] }, flag])
    const named = (key: string) => createAttributes({ maxKeyChars: 15 }).int(key, 1).list()
    expect(named('exactly-fifteen')).toEqual([{ key: 'exactly-fifteen', kind: 'int', value: 1 }])
    expect(named('more-than-fifteen')).toEqual([
      { key: 'more-than-fifte', kind: 'int', value: 1 },
      { key: 'more-.truncated', kind: 'bool', value: true },
    ])
  })
})
