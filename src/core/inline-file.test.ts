import { describe, expect, it } from 'vitest'
import { inlineFile, inlineText, kindOf } from './inline-file.ts'
import type { InputFile } from './item.ts'

const file = (filename: string, type: string, bytes: Buffer): InputFile => ({
  type: 'input_file',
  filename,
  file_data: `data:${type};base64,${bytes.toString('base64')}`,
})

describe('a file that models get as text', () => {
  const page = Buffer.from('<p>Größe 5</p>', 'latin1')
  it.each([
    ['page.html', 'application/octet-stream', page],
    ['page.XHTML', '', page],
    ['page.htm', 'image/png', page],
    ['page', 'application/xhtml+xml', page],
    ['notes.txt', 'application/octet-stream', page],
    ['notes', 'text/plain', page],
    ['Dockerfile', 'application/octet-stream', Buffer.from('Größe 5')],
    // It begins like a bitmap, and its 32nd byte is half of a character.
    ['list', 'application/octet-stream', Buffer.from(`BM${'.'.repeat(29)}öGröße 5`)],
  ])('is read by moderation and content filters, too (%s, %s)', (name, type, bytes) => {
    const part = file(name, type, bytes)
    expect(kindOf(inlineFile(part)!)).toMatch(/^(?:text|html)$/)
    expect(inlineText(part)).toContain('Größe 5')
  })

  it.each([
    ['page', 'application/octet-stream', page],
    ['photo', 'image/png', Buffer.from('Größe 5')],
    ['a.zip', 'application/zip', Buffer.from('PK\x03\x04\x14\0')],
  ])('is none of those that are not (%s, %s)', (name, type, bytes) => {
    const part = file(name, type, bytes)
    expect([kindOf(inlineFile(part)!), inlineText(part)]).toEqual([undefined, undefined])
  })
})
