import { expect, it } from 'vitest'
import { blobPart } from './media.ts'

it.each([
  ['UTF-8', 'text/plain', Buffer.from('Hällo')],
  ['UTF-16, by its mark', 'text/plain', Buffer.from('\uFEFFHällo', 'utf16le')],
  ['the charset of its type', 'text/csv; charset=iso-8859-1', Buffer.from('Hällo', 'latin1')],
])('text is read as %s', (_, mimeType, bytes) => {
  expect(blobPart({ mimeType, data: bytes.toString('base64') })).toMatchObject({ type: 'input_text', text: 'Hällo' })
})
