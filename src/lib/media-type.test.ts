import { describe, expect, it } from 'vitest'
import { sniffBase64 } from './media-type.ts'

const base64 = (text: string): string => Buffer.from(text).toString('base64')

describe('the type of bytes in base64', () => {
  it.each([
    ['a PDF', base64('%PDF-1.7'), 'application/pdf'],
    ['an image', 'iVBORw0KGgo=', 'image/png'],
    ['text', base64('name,age\n'), 'text/plain'],
    ['text in lines of 76', `${'YWJj'.repeat(19)}\r\nYWJj\r\n`, 'text/plain'],
    ['binary data of no known kind', 'AAECAw==', undefined],
    ['nothing', '', undefined],
    ['what is no base64', 'https://x.example/a?b', undefined],
  ])('%s', (_name, data, type) => {
    expect(sniffBase64(data)).toBe(type)
  })
  it('of long text, wherever its beginning is cut', () => {
    for (const letter of ['x', 'é', '€', '🙂']) {
      for (let shift = 0; shift < 4; shift++) expect(sniffBase64(base64('x'.repeat(shift) + letter.repeat(9000)))).toBe('text/plain')
    }
  })
  it('of blanks that end in something else, in time that grows with their number', () => {
    const started = performance.now()
    for (let n = 0; n < 20; n++) expect(sniffBase64(`+${'\t'.repeat(10_900)}\u0001`)).toBeUndefined()
    // A search for the end of the blanks that restarts at each of them would take a second and more.
    expect(performance.now() - started).toBeLessThan(400)
    expect(sniffBase64('  \n')).toBe('text/plain')
    expect(sniffBase64('YQ== \r\n')).toBe('text/plain')
  })
  it('of long bytes that are no text', () => {
    expect(sniffBase64(Buffer.alloc(20_000, 0xff).toString('base64'))).toBeUndefined()
  })
})
