import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { replaceMedia } from './media.ts'
import { isPlaceholder, replaceMediaInText } from './media-text.ts'
import { threadTime } from '../testing/thread-time.ts'

/** Not of a known format: only its length and its mark tell. */
const bytes = (length: number): Buffer => Buffer.from(Array.from({ length }, (_, i) => (i * 167 + (i >> 3) * 31 + 1) % 256))
const base64 = (length: number): string => bytes(length).toString('base64')
const png = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), bytes(500)]).toString('base64')
const wrap = (text: string, width: number, newline: string): string => (text.match(new RegExp(`.{1,${width}}`, 'gs')) ?? []).join(newline)
const ENDS = ['\n', '\r\n', '\r', '\n  ', ' ', '\t']

describe('base64 with line breaks in a text', () => {
  it('is one payload with its data URL, which says the type', () => {
    for (const width of [60, 64, 72, 76, 80])
      for (const newline of ENDS) {
        const head = 'data:image/bmp;base64,'
        const url = `${head}${wrap(base64(400), width, newline)}`
        expect(replaceMediaInText(url)).toBe('[image/bmp, 400 bytes]')
        expect(replaceMediaInText(`see ${url}\n\nWell?`)).toBe('see [image/bmp, 400 bytes]\n\nWell?')
        // Wrapped with its head, or behind it.
        expect(replaceMediaInText(`see "${wrap(`${head}${base64(400)}`, width, newline)}"`)).toBe('see "[image/bmp, 400 bytes]"')
        expect(replaceMediaInText(url.replace(',', `,${newline}`))).toBe('[image/bmp, 400 bytes]')
      }
  })

  it('is one payload without, known by its first bytes or its length', () => {
    for (const width of [60, 64, 72, 76, 80])
      for (const newline of ENDS) {
        expect(replaceMediaInText(`see ${wrap(png, width, newline)}\n\nWell?`)).toBe('see [image/png, 508 bytes]\n\nWell?')
        for (const length of [1998, 1999, 2000, 2280])
          expect(replaceMediaInText(`it is:\n${wrap(base64(length), width, newline)}\n\nWell?`)).toBe(
            `it is:\n[application/octet-stream, ${length} bytes]\n\nWell?`,
          )
      }
  })

  it('is recognised whatever is next to it', () => {
    const payload = wrap(base64(3000), 76, '\n')
    const lines = ['-'.repeat(76), 'f'.repeat(96), '_'.repeat(64), 'f'.repeat(64), `/usr/local/lib/node_modules/a-long-name/of-a-Folder1`, '/9j/']
    for (const line of lines) {
      const out = replaceMediaInText(`${line}\n${payload}\n${line}`)
      expect(out).toBe(`${line}\n[application/octet-stream, 3000 bytes]\n${line}`)
    }
    expect(replaceMediaInText(`${wrap(base64(3000), 76, '\n')}\n${wrap(png, 76, '\n')}`)).toBe(
      '[application/octet-stream, 3000 bytes]\n[image/png, 508 bytes]',
    )
  })

  it('is recognised in the URL-safe alphabet and without padding', () => {
    const url = wrap(bytes(3001).toString('base64url'), 76, '\n')
    expect(replaceMediaInText(`${url}\nWell?`)).toBe('[application/octet-stream, 3001 bytes]\nWell?')
  })

  it('is recognised where line breaks are escaped: JSON in strings, at any depth', () => {
    for (const payload of [`data:image/bmp;base64,${wrap(base64(900), 76, '\n')}`, wrap(png, 64, '\r\n'), wrap(base64(3000), 76, '\n')]) {
      const expected = replaceMediaInText(payload)
      expect(isPlaceholder(expected)).toBe(true)
      let json = JSON.stringify({ text: `Here:\n${payload}\nDone.` })
      let wanted = JSON.stringify({ text: `Here:\n${expected}\nDone.` })
      for (let depth = 0; depth < 4; depth++) {
        expect(replaceMediaInText(json)).toBe(wanted)
        json = JSON.stringify({ json })
        wanted = JSON.stringify({ json: wanted })
      }
    }
  })

  it('is recognised where all of it is percent-encoded', () => {
    for (const newline of ENDS) {
      const payload = wrap(Buffer.alloc(3000, Buffer.from('fbefbeffffffd0', 'hex')).toString('base64'), 76, newline)
      expect(replaceMediaInText(`x=${encodeURIComponent(payload)}&y=1`)).toBe('x=[application/octet-stream, 3000 bytes]&y=1')
      expect(replaceMediaInText(`x=${encodeURIComponent(JSON.stringify(payload))}&y=1`)).toBe('x=%22[application/octet-stream, 3000 bytes]%22&y=1')
    }
  })

  it('is recognised in outputs of tools', () => {
    const output = JSON.stringify({ stdout: `${wrap(base64(3000), 76, '\n')}\n`, code: 0 })
    const item = { type: 'function_call_output', call_id: 'call_1', output }
    expect(replaceMedia(item)).toEqual({ ...item, output: '{"stdout":"[application/octet-stream, 3000 bytes]\\n","code":0}' })
  })
})

describe('a data URL in a text', () => {
  it('is one in any case and with blanks', () => {
    const url = `DATA:image/BMP;BASE64,${base64(90)}`
    expect(replaceMediaInText(url)).toBe('[image/bmp, 90 bytes]')
    expect(replaceMediaInText(`  ${url} `)).toMatch(/^\s*\[image\/bmp, 90 bytes\]\s*$/)
    expect(replaceMediaInText(`a ${url} b`)).toBe('a [image/bmp, 90 bytes] b')
    expect(replaceMediaInText(`a Data: image/bmp ; Base64 , ${base64(90)} b`)).toBe('a [image/bmp, 90 bytes] b')
  })

  it('continues across escapes: percent, JSON, JavaScript', () => {
    const payload = Buffer.alloc(300, Buffer.from('fbefbeffffffd0', 'hex')).toString('base64')
    const escapes: readonly ((text: string) => string)[] = [
      encodeURIComponent,
      (text) => encodeURIComponent(encodeURIComponent(text)),
      (text) => text.replaceAll('/', '\\/'),
      (text) => text.replaceAll('/', '\\u002f').replaceAll('+', '\\u002B').replaceAll('=', '\\u003d'),
      (text) => JSON.stringify(text.replaceAll('/', '\\/').replaceAll('+', '\\u002b')).slice(1, -1),
    ]
    for (const escape of escapes) {
      expect(replaceMediaInText(`<img src='data:image/bmp;base64,${escape(payload)}'>`)).toBe(`<img src='[image/bmp, 300 bytes]'>`)
      expect(replaceMediaInText(`x=${escape(`data:image/bmp;base64,${payload}`)}&y=1`)).toBe('x=[image/bmp, 300 bytes]&y=1')
      expect(replaceMediaInText(`x=${escape(`/9j/${base64(900)}`)}&y=1`)).toBe('x=[image/jpeg, 903 bytes]&y=1')
      // Without its head it is known by its length.
      expect(replaceMediaInText(`x=${escape(base64(4000))}&y=1`)).toBe('x=[application/octet-stream, 4000 bytes]&y=1')
    }
  })

  it('needs no readable media type: the base64 mark is enough', () => {
    const payload = base64(90)
    expect(replaceMediaInText(`image/bmp;base64,${payload}`)).toBe('image/bmp;base64,[application/octet-stream, 90 bytes]')
    expect(replaceMediaInText(`data:text/x;a="b";base64,${payload}!`)).toBe('data:text/x;a="b";base64,[application/octet-stream, 90 bytes]!')
  })

  it('ends where text begins again', () => {
    const url = `data:image/bmp;base64,${base64(96)}`
    const one = '[image/bmp, 96 bytes]'
    for (const after of [
      ' here',
      ' here and there',
      '\n\nThat is it.',
      '\nname: x',
      ') and',
      '" alt="a"',
      `\n${'word '.repeat(50)}`,
      ', next',
      '\\nThat is it',
    ])
      expect(replaceMediaInText(`${url}${after}`)).toBe(`${one}${after}`)
    expect(replaceMediaInText(`${url}\n${url} ${url}`)).toBe(`${one}\n${one} ${one}`)
    for (const words of ['data:\\n;base64,', 'data: x; base64, y', 'write ;base64, and then']) expect(replaceMediaInText(words)).toBe(words)
    expect(replaceMediaInText('write data:image/png;base64, followed by the bytes')).toBe('write [image/png, 0 bytes] followed by the bytes')
  })
})

describe('media in any text', () => {
  const payload = fc
    .tuple(fc.integer({ min: 1600, max: 6000 }), fc.integer({ min: 0, max: 2 ** 31 }))
    .map(([length, seed]) => Buffer.from(Array.from({ length }, (_, i) => Math.imul(i + seed, 2654435761) >>> 24)).toString('base64'))
  const words = fc.string({ unit: fc.constantFrom('a', 'The ', 'Well, ', '\n', ' ', '"', 'e', '64', ': ', 'data: ', '\\n', '%2F', '…') })

  it('leaves no forty characters in a row, however it is wrapped and escaped', () => {
    const escape = fc.constantFrom<(text: string) => string>(
      (text) => text,
      (text) => JSON.stringify(text),
      (text) => JSON.stringify(JSON.stringify(text)),
    )
    fc.assert(
      fc.property(
        payload,
        fc.record({
          width: fc.integer({ min: 60, max: 80 }),
          newline: fc.constantFrom('\n', '\r\n', ' ', '\n\t'),
          head: fc.constantFrom('', 'data:image/bmp;base64,', 'DATA:a/b;BASE64,'),
        }),
        words,
        words,
        escape,
        (encoded, { width, newline, head }, before, after, outer) => {
          const text = outer(`${before} ${head}${wrap(encoded, width, newline)} ${after}`)
          const left = replaceMediaInText(text).replaceAll(/\s|\\+[nrt]/g, '')
          for (let i = 0; i + 40 <= encoded.length; i++) if (left.includes(encoded.slice(i, i + 40))) expect.fail(`at ${i}: ${left}`)
        },
      ),
      { numRuns: 300 },
    )
  })

  it('leaves prose, code, hashes, ids, paths and tables untouched', () => {
    const hex = fc
      .integer({ min: 0, max: 2 ** 31 })
      .chain((seed) =>
        fc
          .constantFrom(40, 64, 96, 128)
          .map((length) => Array.from({ length }, (_, i) => ((Math.imul(i + seed, 2654435761) >>> 24) % 16).toString(16)).join('')),
      )
    const word = fc.constantFrom(
      'Internationalization',
      'the',
      'Well,',
      'a',
      'of',
      'const',
      'x=1;',
      '{',
      '}',
      '64,',
      'base64',
      ';base64,',
      'data:',
      '\\n',
      '%2F',
      '=',
    )
    const path = fc
      .array(fc.constantFrom('usr', 'Local', 'node_modules', 'a-very-long-name-of-a-Folder', 'v2'), { minLength: 2, maxLength: 9 })
      .map((parts) => `/${parts.join('/')}`)
    const piece = fc.oneof(
      word,
      hex,
      hex.map((text) => text.toUpperCase()),
      path,
      fc.constantFrom('-'.repeat(76), '_'.repeat(64)),
      fc.uuid(),
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 200 }), fc.constantFrom(' ', '\n', ', ', '\t', '\\n'), (pieces, joint) => {
        const text = pieces.join(joint)
        expect(replaceMediaInText(text)).toBe(text)
      }),
      { numRuns: 300 },
    )
    const lists = [
      Array.from({ length: 200 }, (_, i) =>
        bytes(i + 40)
          .subarray(i, i + 32)
          .toString('hex'),
      ),
      Array.from({ length: 200 }, (_, i) => `Exports/tenant-42/2024-01-01/550e8400-e29b-41d4-a716-${String(446655440000 + i)}`),
      Array.from({ length: 200 }, () => 'ACGTTGCA'.repeat(10)),
      Array.from({ length: 200 }, () => '-'.repeat(80)),
      Array.from({ length: 200 }, (_, i) => `${'f'.repeat(60)}${1000 + i}  src/Main${i}.ts`),
    ]
    for (const list of lists) for (const joint of ['\n', '\r\n', ' ', '\\n']) expect(replaceMediaInText(list.join(joint))).toBe(list.join(joint))
  })

  it('changes nothing the second time', () => {
    fc.assert(
      fc.property(payload, fc.integer({ min: 60, max: 80 }), words, (encoded, width, after) => {
        const once = replaceMediaInText(`data:image/bmp;base64,${wrap(encoded, width, '\n')} ${after} ${wrap(encoded, width, '\n')}`)
        expect(replaceMediaInText(once)).toBe(once)
      }),
      { numRuns: 50 },
    )
  })

  it.each<[string, string]>([
    ['heads without end', 'data:'.repeat(200_000)],
    ['marks without heads', ';base64,'.repeat(125_000)],
    ['marks with short heads', 'data:;base64,'.repeat(75_000)],
    ['numbers that begin a mark', '64,'.repeat(350_000)],
    ['blanks before a mark', `${' '.repeat(500_000)};base64${' '.repeat(500_000)}`],
    ['blanks before a head', `${' '.repeat(1_000_000)}data:`],
    ['the alphabet without end', 'aB3/'.repeat(250_000)],
    ['one letter without end', 'a'.repeat(1_000_000)],
    ['lines of two lengths', `${'a'.repeat(76)}\n${'a'.repeat(64)}\n`.repeat(7_500)],
    ['lines that grow', Array.from({ length: 2000 }, (_, i) => 'aB3'.repeat(14 + i / 3)).join('\n')],
    ['lines of both alphabets', `${'aB3/-'.repeat(12)}\n`.repeat(15_000)],
    ['lines of one alphabet, then the other', `${'aB3/'.repeat(15)}\n${'aB3-'.repeat(15)}\n`.repeat(7_500)],
    ['lines that begin like media', `iVBORw0KGgo${'a'.repeat(40)}\n`.repeat(20_000)],
    ['lines far apart', `${'a'.repeat(76)}${' '.repeat(1000)}`.repeat(2000)],
    ['words just too short', `${'a'.repeat(39)} `.repeat(25_000)],
    ['escapes between short words', 'aaa%2Fbbb\\/ccc\\u002f '.repeat(50_000)],
    ['long escapes between letters', `${'a\\\\\\\\\\\\u002f'.repeat(19)} `.repeat(2500)],
    ['backslashes in heads', `data:${'\\'.repeat(180)};base64,`.repeat(5000)],
    ['backslashes', '\\'.repeat(1_000_000)],
    ['backslashes between runs', `${'a'.repeat(45)}${'\\'.repeat(45)}`.repeat(10_000)],
    ['escapes', '\\/'.repeat(500_000)],
    ['percent escapes', '%2F'.repeat(350_000)],
    ['percent escapes of percent', `${'a'.repeat(50)}%${'25'.repeat(20)}`.repeat(10_000)],
    ['escaped line breaks', `${'a'.repeat(50)}${'\\n'.repeat(50)}`.repeat(6_000)],
  ])('takes linear time for %s', (_name, hostile) => {
    const start = threadTime()
    replaceMediaInText(hostile)
    expect(threadTime() - start).toBeLessThan(1500)
  })
})
