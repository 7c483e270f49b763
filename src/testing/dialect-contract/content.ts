import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Dialect, FetchedMedia, Target } from '../../core/dialect.ts'
import { isGatewayError } from '../../core/error.ts'
import type { InputItem, InputPart, Role } from '../../core/item.ts'
import type { Subject } from './subject.ts'

/** File signatures, padded to a multiple of three bytes, so that the base64 of what follows is the same as on its own. */
const PNG = Buffer.from('\x89PNG\r\n\x1a\n\0', 'latin1')
const PDF = Buffer.from('%PDF-1.7\n')
const WAV = Buffer.from('RIFF\x24\0\0\0WAVE', 'latin1')
const MP4 = Buffer.from('\0\0\0\x18ftypisom', 'latin1')

const markOf = (number: number): string => `mark-${String(number).padStart(4, '0')}`
const base64Of = (mark: string): string => Buffer.from(mark).toString('base64')
const fileOf = (head: Buffer, mark: string): string => head.toString('base64') + base64Of(mark)

type Make = (mark: string) => InputPart
const PARTS: { readonly [kind: string]: Make } = {
  text: (mark) => ({ type: 'input_text', text: mark }),
  'a text of the model': (mark) => ({ type: 'output_text', text: mark }),
  'a refusal': (mark) => ({ type: 'refusal', refusal: mark }),
  'an image': (mark) => ({ type: 'input_image', image_url: `data:image/png;base64,${fileOf(PNG, mark)}`, detail: 'auto' }),
  'an image at an address': (mark) => ({ type: 'input_image', image_url: `https://media.example/${mark}.png`, detail: 'auto' }),
  'an image by its id': (mark) => ({ type: 'input_image', file_id: mark, detail: 'auto' }),
  'a PDF': (mark) => ({ type: 'input_file', file_data: `data:application/pdf;base64,${fileOf(PDF, mark)}`, filename: 'a.pdf' }),
  'a PDF without a name': (mark) => ({ type: 'input_file', file_data: fileOf(PDF, mark) }),
  'a file at an address': (mark) => ({ type: 'input_file', file_url: `https://media.example/${mark}.pdf` }),
  'a file by its id': (mark) => ({ type: 'input_file', file_id: mark }),
  'a text file': (mark) => ({ type: 'input_file', file_data: `data:text/plain;base64,${base64Of(mark)}`, filename: 'a.txt' }),
  sound: (mark) => ({ type: 'input_audio', input_audio: { data: fileOf(WAV, mark), format: 'wav' } }),
  'a film': (mark) => ({ type: 'input_video', video_url: `data:video/mp4;base64,${fileOf(MP4, mark)}` }),
}

const said =
  (role: Role) =>
  (content: InputPart[]): InputItem[] => [
    { type: 'message', role: 'user', content: 'q' },
    { type: 'message', role, content },
    { type: 'message', role: 'user', content: 'r' },
  ]
const PLACES: { readonly [place: string]: (content: InputPart[]) => InputItem[] } = {
  'the user': said('user'),
  'the assistant': said('assistant'),
  'the system': said('system'),
  'the developer': said('developer'),
  'a function': (output) => [
    { type: 'message', role: 'user', content: 'q' },
    { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' },
    { type: 'function_call_output', call_id: 'c', output },
  ],
  'a custom tool': (output) => [
    { type: 'message', role: 'user', content: 'q' },
    { type: 'custom_tool_call', call_id: 'c', name: 'p', input: 'x' },
    { type: 'custom_tool_call_output', call_id: 'c', output },
  ],
}

function fetched(url: string): FetchedMedia {
  const mark = /mark-\d{4}/.exec(url)![0]
  return url.endsWith('.png') ? { mimeType: 'image/png', data: fileOf(PNG, mark) } : { mimeType: 'application/pdf', data: fileOf(PDF, mark) }
}

/** What is sent for a conversation; undefined if the endpoint refuses it, which the caller is told. */
function send(dialect: Dialect, target: Target, input: InputItem[]): { readonly body: string; readonly dropped: readonly string[] } | undefined {
  const request = { input }
  try {
    const urls = dialect.mediaUrls?.(request, target) ?? []
    return dialect.encodeRequest(request, { ...target, media: new Map(urls.map((url) => [url, fetched(url)])) })
  } catch (error) {
    if (isGatewayError(error) && error.errorType === 'invalid_prompt') return undefined
    throw error
  }
}

/** No content of a caller is lost silently: it is sent, replaced by a note, reported as dropped, or the call is refused. */
export function describeContent({ dialect, target }: Subject): void {
  const missing = (body: string, marks: readonly string[]): readonly string[] =>
    marks.filter((mark) => !body.includes(mark) && !body.includes(base64Of(mark)))
  const told = ({ body, dropped }: { readonly body: string; readonly dropped: readonly string[] }): boolean =>
    / left out\b|media this model cannot read/.test(body) || dropped.some((note) => /input|media|image|file|audio|video/.test(note))

  describe.each(Object.keys(PLACES))('content of %s', (place) => {
    it.each(Object.keys(PARTS))('%s', (kind) => {
      const mark = markOf(1)
      const sent = send(dialect, target, PLACES[place]!([PARTS[kind]!(mark)]))
      if (sent !== undefined && missing(sent.body, [mark]).length > 0) expect({ ...sent, told: told(sent) }).toMatchObject({ told: true })
    })
    it('any mixture, and texts beside media always arrive', () => {
      const kinds = fc.array(fc.constantFrom(...Object.keys(PARTS)), { minLength: 1, maxLength: 6 })
      fc.assert(
        fc.property(kinds, (chosen) => {
          const sent = send(dialect, target, PLACES[place]!(chosen.map((kind, at) => PARTS[kind]!(markOf(at)))))
          if (sent === undefined) return
          const lost = chosen.filter((_, at) => missing(sent.body, [markOf(at)]).length > 0)
          expect(lost.filter((kind) => kind === 'text' || kind === 'a text of the model' || kind === 'a refusal')).toEqual([])
          if (lost.length > 0) expect({ ...sent, lost, told: told(sent) }).toMatchObject({ told: true })
        }),
        { seed: 7, numRuns: 200 },
      )
    })
  })
}
