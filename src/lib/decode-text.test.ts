import { describe, expect, it } from 'vitest'
import { decodeText, markedCharset } from './decode-text.ts'

const utf16 = Buffer.from('\ufeffGröße', 'utf16le')

describe('text of bytes', () => {
  it.each<[string, Buffer, string | undefined]>([
    ['that nobody says anything of', Buffer.from('Größe'), undefined],
    ['with a mark, which is no part of it', Buffer.from('\ufeffGröße'), undefined],
    ['in the charset somebody names', Buffer.from('Größe', 'latin1'), 'iso-8859-1'],
    ['of 16 bits a character, marked', utf16, undefined],
    ['of 16 bits a character, the other way round', Buffer.from(utf16).swap16(), undefined],
    ['whose mark says otherwise than its server', utf16, 'utf-8'],
    ['in a charset nobody knows', Buffer.from('Größe'), 'klingon'],
  ])('%s', (_what, bytes, charset) => {
    expect(decodeText(bytes, charset)).toBe('Größe')
  })
  it('has no mark where it is too short for one', () => {
    expect([markedCharset(Buffer.from([])), markedCharset(Buffer.from([0xff])), markedCharset(Buffer.from('ab'))]).toEqual([
      undefined,
      undefined,
      undefined,
    ])
  })
})
