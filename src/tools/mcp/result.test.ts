import { describe, expect, it } from 'vitest'
import { blankTexts } from '../../lib/blank-texts.ts'
import { readResult, scrubJson } from './result.ts'

const read = (content: readonly object[], structuredContent?: unknown) =>
  readResult({ content: content as never, isError: false, ...(structuredContent === undefined ? {} : { structuredContent }) }, [])

describe('the result of a remote tool', () => {
  it('is its texts', () => {
    expect(
      read([
        { type: 'text', text: 'one' },
        { type: 'text', text: 'two' },
      ]),
    ).toEqual({ text: 'one\ntwo', output: 'one\ntwo' })
  })

  it('shows images to the model and names them in the item', () => {
    const { text, output } = read([
      { type: 'text', text: 'a dot' },
      { type: 'image', data: 'AAAA', mimeType: 'image/png' },
    ])
    expect(text).toBe('a dot\n[image image/png, 3 bytes]')
    expect(output).toEqual([
      { type: 'input_text', text },
      { type: 'input_image', image_url: 'data:image/png;base64,AAAA' },
    ])
  })

  it('shows images of the kinds that models read, by what they are, and names all others', () => {
    const shown = (data: string, mimeType: string): unknown => {
      const { output } = read([{ type: 'image', data, mimeType }])
      return typeof output === 'string' ? output : (output.at(-1) as { readonly image_url: string }).image_url
    }
    expect(shown('PHN2Zy8+', 'image/svg+xml')).toBe('[image image/svg+xml, 6 bytes]')
    expect(shown('AAABAA==', 'image/x-icon')).toBe('[image image/x-icon, 4 bytes]')
    expect(shown('', 'image/png')).toBe('[image image/png, 0 bytes]')
    expect(shown('AAAA', 'image/jpg')).toBe('data:image/jpeg;base64,AAAA')
    expect(shown('/9j/AAAA', 'image/png')).toBe('data:image/jpeg;base64,/9j/AAAA')
    expect(shown('iVBORw0K\r\nGgoAAAAN\n', 'image/png')).toBe('data:image/png;base64,iVBORw0KGgoAAAAN')
    expect(shown('R0lGODdh', 'image/*')).toBe('data:image/gif;base64,R0lGODdh')
  })

  it('treats only images as images', () => {
    expect(read([{ type: 'image', data: 'a"b', mimeType: 'image/png' }]).output).toBe('[image image/png, 2 bytes]')
    expect(read([{ type: 'image', data: 'AAAA', mimeType: 'text/html;x' }]).output).toBe('[image text/html;x, 3 bytes]')
  })

  it('reads resources and links, and names what it cannot read', () => {
    expect(
      read([
        { type: 'resource', resource: { uri: 'a://b', text: 'words' } },
        { type: 'resource', resource: { uri: 'a://b', blob: 'AAAA', mimeType: 'application/zip' } },
        { type: 'resource_link', uri: 'https://a.example', name: 'A', description: 'The letter.' },
        { type: 'audio', data: 'AAAAAAAA', mimeType: 'audio/wav' },
      ]).text,
    ).toBe('words\n[resource application/zip, 3 bytes]\nA - https://a.example - The letter.\n[audio audio/wav, 6 bytes]')
  })

  it('falls back on structured content', () => {
    expect(read([], { total: 3 }).text).toBe('{"total":3}')
    expect(read([{ type: 'text', text: 'three' }], { total: 3 }).text).toBe('three')
    const wordless = [
      { type: 'text', text: ' \n' },
      { type: 'image', data: 'AAAA', mimeType: 'image/png' },
    ]
    expect(read(wordless, { total: 3 }).text).toBe(' \n\n[image image/png, 3 bytes]\n{"total":3}')
    expect(read([{ type: 'text', text: '' }], { total: 3 }).text).toBe('{"total":3}')
  })

  it('is cut where it grows too long, and says so', () => {
    const { text } = read([{ type: 'text', text: 'x'.repeat(300_000) }])
    expect(text.length).toBeLessThan(100_100)
    expect(text).toContain('[cut: the result was longer]')
  })

  it('does not contain the caller’s secrets', () => {
    expect(readResult({ content: [{ type: 'text', text: 'you sent Bearer s3cr3t-value' }], isError: false }, ['s3cr3t-value']).text).toBe(
      'you sent Bearer [redacted]',
    )
    expect(blankTexts('a b', [])).toBe('a b')
  })

  it('does not contain the rest of a secret that begins like another', () => {
    const secrets = ['tok_live_12', 'tok_live_1234567890', 'tok_live_1234']
    expect(blankTexts('tok_live_1234567890, tok_live_1234 and tok_live_12', secrets)).toBe('[redacted], [redacted] and [redacted]')
  })

  it('does not contain a secret with JSON escapes', () => {
    const { text } = readResult({ content: [], structuredContent: { you: 'sent p"ss\\w0rd' }, isError: false }, ['p"ss\\w0rd'])
    expect(text).toBe('{"you":"sent [redacted]"}')
  })

  it('does not contain half of a secret where it is cut', () => {
    const secret = 'tok_live_0123456789abcdefghijklmnop'
    for (const left of [1, 10, secret.length - 1]) {
      const text = `${'x'.repeat(100_000 - left)}${secret}${'y'.repeat(100)}`
      expect(readResult({ content: [{ type: 'text', text }], isError: false }, [secret]).text).not.toMatch(/xt/)
    }
  })
})

describe('a value without the secrets', () => {
  it('is the same value if it contains none', () => {
    const value = { type: 'object' }
    expect(scrubJson(value, ['secret-1'])).toBe(value)
    expect(scrubJson(undefined, ['secret-1'])).toBeUndefined()
  })
  it('has them blanked in keys and strings of any depth', () => {
    expect(scrubJson({ a: [{ 'of secret-1': 'a "sec\\ret"' }] }, ['secret-1', '"sec\\ret"'])).toEqual({ a: [{ 'of [redacted]': 'a [redacted]' }] })
  })
})
