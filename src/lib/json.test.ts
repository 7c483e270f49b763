import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { depthBehind, MAX_JSON_DEPTH, nestsTooDeep, parseJsonText, JsonError, parseJson, wellFormedJson } from './json.ts'
import { verifies } from '../../e2e/requirements.ts'

const parse = (text: string, maxDepth?: number): unknown => parseJson(Buffer.from(text), maxDepth === undefined ? {} : { maxDepth })

function refusal(bytes: Buffer | string, maxDepth?: number): JsonError {
  try {
    parseJson(typeof bytes === 'string' ? Buffer.from(bytes) : bytes, maxDepth === undefined ? {} : { maxDepth })
  } catch (error) {
    if (error instanceof JsonError) return error
    throw error
  }
  throw new Error('the text was accepted')
}

describe('wellFormedJson', () => {
  it('replaces halves of surrogate pairs and nothing else, whatever backslashes stand before them', () => {
    const unit = fc.constantFrom('\\', '\ud83d', '\ude00', '\ud83d\ude00', 'ud83d', 'a', '"', '\n', '\ufffd')
    fc.assert(
      fc.property(fc.array(unit, { maxLength: 12 }), (units) => {
        const text = units.join('')
        expect(JSON.parse(wellFormedJson(JSON.stringify({ [text]: [text] })))).toEqual({ [text.toWellFormed()]: [text.toWellFormed()] })
      }),
    )
  })
})

describe('parseJson', () => {
  it('gives what JSON.parse gives, for any JSON', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = JSON.stringify(value)
        fc.pre(!text.includes('__proto__'))
        expect(parse(text)).toEqual(JSON.parse(text))
      }),
    )
  })

  it('throws JsonError and nothing else, for any bytes, with a position inside the text', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.uint8Array(),
          fc.string({ unit: 'binary' }).map((text) => Buffer.from(text)),
        ),
        (bytes) => {
          try {
            parseJson(Buffer.from(bytes))
          } catch (error) {
            expect(error).toBeInstanceOf(JsonError)
            expect((error as JsonError).position).toBeLessThanOrEqual(bytes.length)
          }
        },
      ),
    )
  })

  describe(verifies('B5', 'encoding'), () => {
    it('passes over a byte order mark', () => {
      expect(parseJson(Buffer.from('\uFEFF{"a":1}'))).toEqual({ a: 1 })
    })
    it.each([
      ['a stray continuation byte', [0x22, 0xc3, 0xa9, 0xa9, 0x22], 3],
      ['an overlong slash', [0x22, 0xc0, 0xaf, 0x22], 1],
      ['an encoded surrogate', [0x22, 0xed, 0xa0, 0x80, 0x22], 1],
      ['a sequence cut at the end', [0x22, 0x61, 0xe2, 0x82], 2],
      ['UTF-16', [0xff, 0xfe, 0x7b, 0x00], 0],
    ])('refuses %s with the offset of the byte', (_, bytes, position) => {
      expect(refusal(Buffer.from(bytes))).toMatchObject({ reason: 'the text is not valid UTF-8', position })
    })
  })

  describe('syntax errors say what and where', () => {
    it.each([
      ['', 'the text is empty', 0],
      ['  \n', 'the text is empty', 0],
      ['{"a":1,}', 'unexpected "}" where a key in double quotes belongs', 7],
      ['[1,]', 'unexpected "]" where a value belongs', 3],
      ['[1 2]', 'unexpected "2" where "," or "]" belongs', 3],
      ['{"a":1 "b"}', 'unexpected "\\"" where "," or "}" belongs', 7],
      ["{'a':1}", 'unexpected "\'" where a key in double quotes belongs', 1],
      ['{"a" 1}', 'unexpected "1" where ":" belongs', 5],
      ['{"a":', 'the text ends where a value belongs', 5],
      ['{"a":1', 'the text ends where "," or "}" belongs', 6],
      ['{"a":"b', 'a string is not closed', 5],
      ['"a\\', 'a string is not closed', 2],
      ['"a\\x"', 'unknown escape inside a string', 2],
      ['"a\u0001"', 'a control character inside a string must be escaped', 2],
      ['{} {}', 'unexpected "{" after the end of the document', 3],
      ['nul', 'unexpected "n" where a value belongs', 0],
      ['NaN', 'unexpected "N" where a value belongs', 0],
      ['[01]', 'unexpected "1" where "," or "]" belongs', 2],
      ['[1.]', 'unexpected "." where "," or "]" belongs', 2],
      ['😀', 'unexpected "😀" where a value belongs', 0],
    ])('%j', (text, reason, position) => {
      expect(refusal(text)).toMatchObject({ reason, position })
    })

    it('never quotes the text', () => {
      expect(refusal('{"key":"sk-secret-value" oops}').message).not.toContain('secret')
    })

    it('finds a fault wherever JSON.parse finds one', () => {
      const damaged = fc.tuple(fc.json(), fc.nat(), fc.constantFrom('', '"', '{', ']', ',', ':', '\\', 'x', '-', '\u0000'))
      fc.assert(
        fc.property(damaged, ([text, at, char]) => {
          const broken = text.slice(0, at % (text.length + 1)) + char + text.slice((at % (text.length + 1)) + 1)
          fc.pre(!broken.includes('__proto__') && broken.trim() !== '')
          let native = true
          try {
            JSON.parse(broken)
          } catch {
            native = false
          }
          if (native) expect(() => parse(broken)).not.toThrow()
          else expect(refusal(broken).reason).not.toBe('the text is not JSON')
        }),
        { numRuns: 500 },
      )
    })
  })

  describe('depth', () => {
    const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth)
    const objects = (depth: number): string => '{"a":'.repeat(depth) + '1' + '}'.repeat(depth)

    it('accepts 256 levels and refuses the next', () => {
      expect(() => parse(nested(256))).not.toThrow()
      expect(refusal(nested(257))).toMatchObject({ reason: 'arrays and objects are nested more than 256 deep', position: 256 })
      expect(() => parse(objects(256))).not.toThrow()
      expect(refusal(objects(257)).position).toBe(256 * 5)
    })
    it('counts what is open, not how many there are', () => {
      expect(parse(`[${Array(1000).fill('[{}]').join()}]`)).toHaveLength(1000)
    })
    it('does not count brackets inside strings', () => {
      const text = `${'['.repeat(2000)}\\"${'{'.repeat(2000)}`
      expect(parse(`["${text}\\\\",[1]]`)).toHaveLength(2)
    })
    it('refuses a megabyte of brackets without building it', () => {
      expect(refusal('['.repeat(1_000_000)).position).toBe(256)
    })
    it('takes another limit', () => {
      expect(() => parse(nested(3), 3)).not.toThrow()
      expect(refusal(nested(4), 3).position).toBe(3)
    })
  })

  describe(verifies('B1', 'the number of keys'), () => {
    const keys = (count: number, space = ''): string => `{${Array.from({ length: count }, (_, n) => `"${n}"${space}:1`).join()}}`

    it('is limited to 250,000 in all', () => {
      expect(() => parse(keys(250_000))).not.toThrow()
      expect(refusal(keys(250_001)).reason).toBe('the objects have more than 250000 keys')
      expect(refusal(`[${keys(125_001)},${keys(125_001)}]`).reason).toBe('the objects have more than 250000 keys')
      expect(refusal(keys(250_001, ' \t\r\n')).reason).toBe('the objects have more than 250000 keys')
    })
    it('does not count what only looks like keys', () => {
      const text = '{\\"a\\":1}'.repeat(300_000)
      expect(parse(`["${text}",${'":",'.repeat(3)}1]`)).toHaveLength(5)
    })
    it('takes another limit', () => {
      expect(() => parseJson(Buffer.from(keys(2)), { maxKeys: 2 })).not.toThrow()
      expect(() => parseJson(Buffer.from(keys(3)), { maxKeys: 2 })).toThrow(JsonError)
    })
  })

  describe(verifies('B2', 'keys that pollute'), () => {
    it.each(['{"__proto__":{"admin":true}}', '{"a":[{"__proto__" : 1}]}', '{"\\u005f_proto__":1}', '{"__\\u0070roto__":1}'])('refuses %s', (text) => {
      expect(refusal(text).reason).toBe('the key "__proto__" is not accepted')
    })
    it.each(['{"a":"__proto__"}', '{"a":"say {\\"__proto__\\": 1}"}', '["__proto__"]', '{"a__proto__":1}', '{"constructor":{"prototype":{"x":1}}}'])(
      'accepts %s as data',
      (text) => {
        expect(parse(text)).toEqual(JSON.parse(text))
        expect(({} as { x?: unknown }).x).toBeUndefined()
      },
    )
  })

  describe('text that is not well-formed UTF-16', () => {
    it.each([
      ['"\\ud83d\\ude00"', '😀'],
      ['"a\\ud83d"', 'a\uFFFD'],
      ['"\\ude00\\ud83d"', '\uFFFD\uFFFD'],
      ['"\\\\ud83d\\ude00"', '\\ud83d\uFFFD'],
      ['{"k\\ud83d":["\\udead",1]}', { 'k\uFFFD': ['\uFFFD', 1] }],
    ])('%s', (text, value) => {
      expect(parse(text)).toEqual(value)
    })
  })

  it(verifies('B3', 'B4', 'keeps the last of equal keys and the precision of doubles'), () => {
    expect(parse('{"a":1,"a":2}')).toEqual({ a: 2 })
    expect(parse('[1e400,-0,12345678901234567890,1e-400]')).toEqual([Infinity, -0, 12345678901234567000, 0])
  })
})

describe(verifies('B1', 'JSON within a text'), () => {
  const deep = (levels: number): string => `${'{"a":['.repeat(levels / 2)}${']}'.repeat(levels / 2)}`

  it('is read as deep as a body, and not at all beyond', () => {
    expect(parseJsonText(deep(MAX_JSON_DEPTH))).toEqual(JSON.parse(deep(MAX_JSON_DEPTH)))
    expect(() => parseJsonText(deep(MAX_JSON_DEPTH + 2))).toThrow(JsonError)
    expect([nestsTooDeep(deep(MAX_JSON_DEPTH)), nestsTooDeep(deep(MAX_JSON_DEPTH + 2)), nestsTooDeep('['.repeat(100_000))]).toEqual([
      false,
      true,
      true,
    ])
  })

  it('may hold any number of brackets in its strings, and one behind another', () => {
    const text = JSON.stringify(['[{'.repeat(10_000), ...Array.from({ length: 1_000 }, () => [{}])])
    expect(parseJsonText(text)).toEqual(JSON.parse(text))
    expect(nestsTooDeep(text)).toBe(false)
  })

  it('that is invalid throws like a parser', () => {
    expect(() => parseJsonText('{"a"')).toThrow(SyntaxError)
  })

  it('is tracked over several pieces', () => {
    const lines = Array.from({ length: 10 }, () => '{"a": ["]]]"')
    expect(lines.reduce((depth, line) => depthBehind(line, depth), 0)).toBe(20)
    expect(depthBehind(']}]}', 3)).toBe(0)
    expect(() => depthBehind('[', MAX_JSON_DEPTH)).toThrow(JsonError)
  })
})
