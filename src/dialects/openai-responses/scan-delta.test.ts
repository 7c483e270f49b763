import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { DELTA_KINDS, DeltaScanner } from './scan-delta.ts'

const frame = (members: object): string => JSON.stringify(members)
const TEXT = {
  type: 'response.output_text.delta',
  sequence_number: 4,
  item_id: 'msg_1',
  output_index: 1,
  content_index: 0,
  delta: ' hello',
  logprobs: [],
}

function scan(data: string): object | undefined {
  const scanner = new DeltaScanner()
  if (!scanner.scan(data)) return undefined
  const { kind, outputIndex, part, delta } = scanner
  return { kind, outputIndex, part, delta }
}

/** The contents of the frame according to JSON.parse; undefined for frames that the scanner must leave alone. */
function parse(data: string): object | undefined {
  const value = JSON.parse(data) as Record<string, unknown>
  const kind = DELTA_KINDS.get(String(value['type']))
  const { delta } = value
  if (kind === undefined || typeof delta !== 'string' || JSON.stringify(delta) !== `"${delta}"`) return undefined
  const part = value[kind === 'summary' ? 'summary_index' : 'content_index'] ?? 0
  return { kind, outputIndex: value['output_index'], part, delta }
}

describe('DeltaScanner', () => {
  it.each([
    ['text', TEXT],
    ['padding', { ...TEXT, obfuscation: 'xYz' }],
    [
      'sorted members',
      { content_index: 0, delta: 'a', item_id: 'm', logprobs: [], output_index: 1, sequence_number: 9, type: 'response.output_text.delta' },
    ],
    ['a summary', { type: 'response.reasoning_summary_text.delta', output_index: 0, summary_index: 3, delta: 'x' }],
    ['raw reasoning', { type: 'response.reasoning_text.delta', output_index: 0, content_index: 2, delta: 'x' }],
    ['arguments', { type: 'response.function_call_arguments.delta', output_index: 2, delta: '{}' }],
    ['custom input', { type: 'response.custom_tool_call_input.delta', output_index: 2, delta: 'SELECT' }],
    ['null and boolean members', { ...TEXT, logprobs: null, done: false, ok: true }],
    ['an empty delta', { ...TEXT, delta: '' }],
    ['letters outside of Latin-1', { ...TEXT, delta: 'für 你好 😀' }],
  ])('reads %s', (_, members) => {
    expect(scan(frame(members))).toEqual(parse(frame(members)))
    expect(scan(frame(members))).toBeDefined()
  })

  it('takes one space after colons and commas, as some serializers write it', () => {
    const spaced = '{"type": "response.output_text.delta", "output_index": 0, "delta": "a"}'
    expect(scan(spaced)).toEqual({ kind: 'text', outputIndex: 0, part: 0, delta: 'a' })
  })

  it.each([
    ['an escape in the delta', frame({ ...TEXT, delta: 'a"b' })],
    ['an escape elsewhere', frame({ ...TEXT, item_id: 'a\\b' })],
    ['a raw control character', '{"type":"response.output_text.delta","output_index":0,"delta":"a\tb"}'],
    ['log probabilities', frame({ ...TEXT, logprobs: [{ token: 'a' }] })],
    ['nesting', frame({ ...TEXT, extra: { delta: 'no' } })],
    ['another event', frame({ ...TEXT, type: 'response.output_text.done' })],
    ['a name of Object.prototype as event', frame({ ...TEXT, type: 'constructor' })],
    ['a delta that is no string', frame({ ...TEXT, delta: { stdout: 'x' } })],
    ['a null delta', frame({ ...TEXT, delta: null })],
    ['no output index', frame({ type: 'response.output_text.delta', delta: 'x' })],
    ['an output index as text', frame({ ...TEXT, output_index: '1' })],
    ['a negative index', frame({ ...TEXT, output_index: -1 })],
    ['a fraction', frame({ ...TEXT, output_index: 1.5 })],
    ['an exponent', '{"type":"response.output_text.delta","output_index":1e3,"delta":"a"}'],
    ['a leading zero', '{"type":"response.output_text.delta","output_index":01,"delta":"a"}'],
    ['a member that comes twice', '{"type":"response.output_text.delta","output_index":0,"delta":"a","delta":"b"}'],
    ['text behind the object', `${frame(TEXT)} `],
    ['a cut frame', frame(TEXT).slice(0, -1)],
    ['a cut string', '{"type":"response.output_text.delta","output_index":0,"delta":"a'],
    ['an array', '[]'],
    ['an empty object', '{}'],
    ['nothing', ''],
  ])('leaves %s to the parser', (_, data) => {
    expect(scan(data)).toBeUndefined()
  })

  const word = fc.string({
    unit: fc.constantFrom('a', 'Z', ' ', '{', '}', '[', ']', ':', ',', 'é', '你', '😀', '"', '\\', '\n', '/', 'delta', '"delta":"', '\u007f'),
    maxLength: 8,
  })
  const value = fc.oneof(
    word,
    fc.nat(),
    fc.integer(),
    fc.double(),
    fc.boolean(),
    fc.constant(null),
    fc.constant([]),
    fc.constant({}),
    fc.constant([{ token: 'a' }]),
    fc.constant({ delta: 'x', output_index: 7 }),
  )
  const members = fc
    .record(
      {
        type: fc.oneof({ weight: 8, arbitrary: fc.constantFrom(...DELTA_KINDS.keys()) }, word),
        delta: fc.oneof({ weight: 8, arbitrary: word }, value),
        output_index: fc.oneof({ weight: 8, arbitrary: fc.nat(9) }, value),
        content_index: fc.oneof({ weight: 8, arbitrary: fc.nat(9) }, value),
        summary_index: fc.nat(9),
        sequence_number: fc.nat(),
        item_id: word,
        logprobs: fc.oneof(fc.constant([]), value),
        obfuscation: word,
        delt: word,
        kind: value,
      },
      { requiredKeys: ['type', 'delta', 'output_index'] },
    )
    .chain((record) => fc.shuffledSubarray(Object.entries(record), { minLength: Object.keys(record).length }))

  it('never says anything else than JSON.parse, for any frames in any order, with shapes remembered between them', () => {
    let scanned = 0
    fc.assert(
      fc.property(fc.array(members, { minLength: 1, maxLength: 6 }), fc.boolean(), (frames, spaced) => {
        const scanner = new DeltaScanner()
        // Every frame twice: the second time it is read by its remembered shape.
        for (const entries of frames.flatMap((entries) => [entries, entries])) {
          const data = spaced
            ? `{${entries.map(([k, v]) => `${JSON.stringify(k)}: ${JSON.stringify(v)}`).join(', ')}}`
            : JSON.stringify(Object.fromEntries(entries))
          if (!scanner.scan(data)) continue
          scanned++
          const { kind, outputIndex, part, delta } = scanner
          expect({ kind, outputIndex, part, delta }).toEqual(parse(data))
        }
      }),
      { numRuns: 2000 },
    )
    expect(scanned).toBeGreaterThan(100)
  })

  it('looks for control characters in frames of a remembered shape too', () => {
    const scanner = new DeltaScanner()
    const plain = '{"type":"response.output_text.delta","output_index":0,"delta":"a"}'
    expect(scanner.scan(plain)).toBe(true)
    expect(scanner.scan(plain.replace('"a"', '"a\tb"'))).toBe(false)
    expect(scanner.scan(plain)).toBe(true)
  })

  it('reads every plain frame of one item by its shape, whatever changes in it', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.tuple(fc.nat(), fc.string({ unit: fc.constantFrom('a', 'b', '{', ':', ',', '你') }), fc.string({ unit: fc.constantFrom('x', '7') })),
        ),
        (rows) => {
          const scanner = new DeltaScanner()
          for (const [sequence, delta, id] of rows) {
            const data = frame({ ...TEXT, sequence_number: sequence, item_id: id, delta, obfuscation: id })
            if (sequence > 999_999_999) continue
            expect(scanner.scan(data)).toBe(true)
            expect(scanner.delta).toBe(delta)
          }
        },
      ),
    )
  })
})
