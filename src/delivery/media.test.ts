import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fullGeneration } from '../testing/sample-generations.ts'
import { replaceMedia, replaceMediaInGeneration, replaceMediaInValues } from './media.ts'
import { isPlaceholder, replaceMediaInText } from './media-text.ts'
import { threadTime } from '../testing/thread-time.ts'

/** Not of a known format: only its length and its mark tell. */
const bytes = (length: number): Buffer => Buffer.from(Array.from({ length }, (_, i) => (i * 167 + (i >> 3) * 31 + 1) % 256))
const wrap = (base64: string, width: number, newline = '\n'): string => base64.replaceAll(new RegExp(`.{${width}}`, 'g'), `$&${newline}`)

const png = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.alloc(120, 7)])

describe('replaceMedia', () => {
  it('replaces an image by a placeholder with type and size', () => {
    const part = { type: 'input_image', image_url: `data:image/png;base64,${png.toString('base64')}`, detail: 'low' }
    expect(replaceMedia(part)).toEqual({ type: 'input_image', image_url: '[image/png, 128 bytes]', detail: 'low' })
  })

  it('replaces what platforms refuse in a text: halves of a character, and NULs', () => {
    const read = { type: 'function_call_output', call_id: 'c', output: 'ELF\0\0 \ud83d end' }
    expect(replaceMedia([read, 'whole'])).toEqual([{ ...read, output: 'ELF\ufffd\ufffd \ufffd end' }, 'whole'])
    const { generation } = fullGeneration()
    expect(replaceMediaInGeneration({ ...generation, errorMessage: 'a\0b' }).errorMessage).toBe('a\ufffdb')
    expect(replaceMediaInValues({ note: 'a\0b' })).toEqual({ note: 'a\ufffdb' })
  })

  it('replaces them in names, too: callers name metadata and the properties of a schema', () => {
    const tool = { type: 'function', parameters: { properties: { 'a\0b': { type: 'string' }, plain: { type: 'string' } } } }
    expect(replaceMedia([tool])).toEqual([
      { type: 'function', parameters: { properties: { 'a\ufffdb': { type: 'string' }, plain: { type: 'string' } } } },
    ])
    const given = { 'team\0': 'a\0b', '\ud83d': 1 }
    expect(replaceMediaInValues(given)).toEqual({ 'team\ufffd': 'a\ufffdb', '\ufffd': 1 })
    expect(given).toHaveProperty('team\0')
  })

  it('recognises every field that carries bytes', () => {
    const data = Buffer.alloc(30, 'a').toString('base64')
    expect(replaceMedia({ type: 'input_audio', input_audio: { data, format: 'wav' } })).toEqual({
      type: 'input_audio',
      input_audio: { data: '[audio/wav, 30 bytes]', format: 'wav' },
    })
    expect(replaceMedia({ type: 'input_file', file_data: data, filename: 'a.pdf' })).toEqual({
      type: 'input_file',
      file_data: '[application/octet-stream, 30 bytes]',
      filename: 'a.pdf',
    })
    expect(replaceMedia({ type: 'image_generation_call', result: data })).toEqual({ type: 'image_generation_call', result: '[image/png, 30 bytes]' })
    expect(replaceMedia({ type: 'image_generation_call', result: data, output_format: 'jpeg' })).toMatchObject({ result: '[image/jpeg, 30 bytes]' })
    // As histories of the hosted router have them.
    for (const type of ['gateway:image_generation', 'openrouter:image_generation'])
      expect(replaceMedia({ type, result: data, imageB64: data })).toEqual({
        type,
        result: '[image/png, 30 bytes]',
        imageB64: '[image/png, 30 bytes]',
      })
    expect(replaceMedia({ type: 'gateway:datetime', result: data })).toEqual({ type: 'gateway:datetime', result: data })
    expect(replaceMedia({ type: 'reasoning', encrypted_content: data })).toEqual({
      type: 'reasoning',
      encrypted_content: '[application/octet-stream, 30 bytes]',
    })
    expect(replaceMedia({ type: 'mcp_call', output: { content: [{ type: 'image', data, mimeType: 'image/gif' }] } })).toEqual({
      type: 'mcp_call',
      output: { content: [{ type: 'image', data: '[image/gif, 30 bytes]', mimeType: 'image/gif' }] },
    })
  })

  it('keeps links and file ids', () => {
    const part = { type: 'input_image', image_url: 'https://example.com/a.png', file_id: 'file-1' }
    expect(replaceMedia(part)).toBe(part)
    const file = { type: 'input_file', file_data: 'HTTPS://example.com/a.pdf' }
    expect(replaceMedia(file)).toBe(file)
  })

  it('replaces a binary field completely, whatever else is in it', () => {
    const wrapped = wrap(bytes(300).toString('base64'), 76)
    const file = (file_data: string): unknown => replaceMedia({ type: 'input_file', file_data })
    const audio = (data: string): unknown => replaceMedia({ type: 'input_audio', input_audio: { data, format: 'wav' } })
    expect(file(wrapped)).toEqual({ type: 'input_file', file_data: '[application/octet-stream, 300 bytes]' })
    expect(audio(wrapped)).toEqual({ type: 'input_audio', input_audio: { data: '[audio/wav, 300 bytes]', format: 'wav' } })
    for (const url of [
      `data:application/pdf;base64,${wrapped}`,
      ` \n data:application/pdf;base64,\r\n${wrapped}\r\n`,
      `DATA:Application/PDF;name=a.pdf;BASE64,${wrapped}`,
      `data:application/pdf;base64,${encodeURIComponent(wrapped)}`,
      `data:application/pdf;base64,${wrapped.replace('\n', '\n>*<')}`,
    ]) {
      expect(file(url)).toEqual({ type: 'input_file', file_data: '[application/pdf, 300 bytes]' })
      expect(audio(url)).toEqual({ type: 'input_audio', input_audio: { data: '[application/pdf, 300 bytes]', format: 'wav' } })
    }
    expect(file(`${png.toString('base64')}.${wrapped}`)).toEqual({ type: 'input_file', file_data: '[application/octet-stream, 428 bytes]' })
    expect(replaceMedia({ inline_data: { mime_type: 'image/bmp', data: wrapped }, resource: { mimeType: 'a/b', blob: wrapped } })).toEqual({
      inline_data: { mime_type: 'image/bmp', data: '[image/bmp, 300 bytes]' },
      resource: { mimeType: 'a/b', blob: '[a/b, 300 bytes]' },
    })
  })

  it('replaces a data URL completely in a field for URLs', () => {
    for (const name of ['image_url', 'video_url', 'file_url', 'url', 'imageUrl', 'uri']) {
      const part = (url: string): unknown => replaceMedia({ [name]: url })
      expect(part(`DATA:image/bmp;base64,${wrap(bytes(200).toString('base64'), 64)}`)).toEqual({ [name]: '[image/bmp, 200 bytes]' })
      expect(part(`\t data:image/bmp;base64,${encodeURIComponent(bytes(200).toString('base64'))}`)).toEqual({ [name]: '[image/bmp, 200 bytes]' })
      expect(part('data:image/svg+xml;utf8,<svg width="1"> </svg>')).toEqual({ [name]: '[image/svg+xml, 22 bytes]' })
      expect(part('data:;base64,QUJD')).toEqual({ [name]: '[text/plain, 3 bytes]' })
    }
  })

  it('finds media inside a text: arguments of tools, results, several in a row', () => {
    const url = `data:image/jpeg;base64,${Buffer.alloc(90, 'b').toString('base64')}`
    expect(replaceMediaInText(`{"a":"${url}","b":"${url}"} end`)).toBe('{"a":"[image/jpeg, 90 bytes]","b":"[image/jpeg, 90 bytes]"} end')
    expect(replaceMediaInText(`see ${png.toString('base64')} there`)).toBe('see [image/png, 128 bytes] there')
    expect(replaceMediaInText('data:image/svg+xml,%3Csvg%3E')).toBe('[image/svg+xml, 9 bytes]')
  })

  it('finds every base64 run, wherever it begins and whatever is next to it', () => {
    // Blanks are tried where base64 is wrapped (media-text.test.ts): there a run goes on behind them.
    const noise = fc.string({ unit: fc.constantFrom('a', 'Z', '7', '/', '.', '=', '"', ':', 'ä'), maxLength: 90 })
    const run = fc.integer({ min: 40, max: 200 }).map((length) => `iVBORw0KGgo${'Ab1'.repeat(100)}`.slice(0, length))
    fc.assert(
      fc.property(fc.array(fc.oneof(noise, run), { maxLength: 12 }), (pieces) => {
        const text = pieces.join('')
        const expected = text.replaceAll(/([\w+/-]{64,})={0,2}/g, (whole: string, run: string) =>
          run.startsWith('iVBORw0KGgo') ? `[image/png, ${Math.floor((run.length * 3) / 4)} bytes]` : whole,
        )
        expect(replaceMediaInText(text)).toBe(expected)
      }),
      { numRuns: 500 },
    )
  })

  it('leaves plain text unchanged, however long', () => {
    for (const text of ['x'.repeat(5000), '-'.repeat(5000), 'data: none', `${'f'.repeat(64)} and more`, 'a data:text thing'])
      expect(replaceMediaInText(text)).toBe(text)
  })

  it('leaves no part of the bytes behind, wherever the base64 is', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 2000, maxLength: 4000 }), fc.string(), fc.string(), (bytes, before, after) => {
        const encoded = Buffer.from(bytes).toString('base64')
        fc.pre(/[a-z]/.test(encoded.slice(0, 512)) && /[A-Z]/.test(encoded.slice(0, 512)) && /\d/.test(encoded.slice(0, 512)))
        const out = JSON.stringify(replaceMedia({ deep: [{ text: `${before}" ${encoded} "${after}` }] }))
        expect(out).not.toContain(encoded.slice(100, 164))
      }),
      { numRuns: 50 },
    )
  })

  it('is linear in the length of a hostile text', () => {
    const hostile = 'data:'.repeat(200_000) + '='.repeat(200_000)
    const start = threadTime()
    replaceMediaInText(hostile)
    expect(threadTime() - start).toBeLessThan(1500)
  })

  it('does not follow nesting without end', () => {
    let deep: unknown = 'data:image/png;base64,AAAA'
    for (let i = 0; i < 3000; i++) deep = { deep }
    expect(JSON.stringify(replaceMedia(deep))).not.toContain('AAAA')
  })

  it('changes nothing the second time', () => {
    const once = replaceMedia({ image_url: `data:image/png;base64,${png.toString('base64')}`, file_data: 'QUJD' })
    expect(replaceMedia(once)).toBe(once)
    expect(isPlaceholder(once.image_url)).toBe(true)
  })
})

describe("media in values of the caller's own", () => {
  const own = {
    signature: 'QA->answer',
    file_data: 'orders-2026',
    step: { data: 'row 7', format: 'csv' },
    result: 'x',
    type: 'image_generation_call',
  }

  it('are recognised by the text alone, because the caller chooses the names of fields', () => {
    expect(replaceMediaInValues(own)).toBe(own)
    const url = `data:image/png;base64,${png.toString('base64')}`
    expect(replaceMediaInValues({ ...own, signature: url, deep: [{ data: url }] })).toEqual({
      ...own,
      signature: '[image/png, 128 bytes]',
      deep: [{ data: '[image/png, 128 bytes]' }],
    })
  })

  it('are recognised by text in the caller’s fields of a generation, and by name in the rest', () => {
    const { generation } = fullGeneration()
    const changed = {
      ...generation,
      trace: own,
      metadata: { signature: 'v3' },
      parameters: own,
      usage: { ...generation.usage, raw: { signature: 'QUJD' } },
    }
    expect(replaceMediaInGeneration(changed)).toEqual({
      ...changed,
      usage: { ...generation.usage, raw: { signature: '[application/octet-stream, 3 bytes]' } },
    })
  })

  it('leave a generation without any as it is', () => {
    const { generation } = fullGeneration()
    expect(replaceMediaInGeneration(generation)).toBe(generation)
  })
})
