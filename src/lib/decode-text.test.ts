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
    ['of an older program, which says nothing of it', Buffer.from('Größe', 'latin1'), undefined],
    ['whose server says otherwise', Buffer.from('Größe', 'latin1'), 'utf-8'],
  ])('%s', (_what, bytes, charset) => {
    expect(decodeText(bytes, charset)).toBe('Größe')
  })
  it.each([
    ['<?xml version="1.0" encoding="ISO-8859-1"?>', 'latin1', undefined],
    ["<?xml version='1.0' encoding='windows-1252' standalone='yes' ?>", 'latin1', undefined],
    ['<?xml version="1.0" encoding="utf-8"?>', 'latin1', 'iso-8859-1'],
    ['<?xml version="1.0"?>', 'utf8', undefined],
    ['<?xml version="1.0" encoding="UTF-16"?>', 'utf8', undefined],
    ['<?xml version="1.0" encoding="klingon"?>', 'utf8', undefined],
    ['<p><?xml version="1.0" encoding="latin1"?>', 'utf8', undefined],
  ] as const)('that begins with %s is decoded by it unless a charset is given', (head, written, charset) => {
    expect(decodeText(Buffer.from(`${head}<a>Größe</a>`, written), charset)).toBe(`${head}<a>Größe</a>`)
  })
  it('that are damaged, or cut in the middle of a character, get replacement characters', () => {
    expect(decodeText(Buffer.concat([Buffer.from('Größe '), Buffer.from([0xff])]))).toBe('Größe \ufffd')
    expect(decodeText(Buffer.from('Größe ü').subarray(0, -1))).toBe('Größe \ufffd')
  })
  it('has no mark where it is too short for one', () => {
    expect([markedCharset(Buffer.from([])), markedCharset(Buffer.from([0xff])), markedCharset(Buffer.from('ab'))]).toEqual([
      undefined,
      undefined,
      undefined,
    ])
  })
})
