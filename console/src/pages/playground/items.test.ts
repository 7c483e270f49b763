import { expect, it } from 'vitest'
import { imageOf, linkOf, readable, viewOf } from './items.ts'

const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

it('a message shows its texts as they are, refusals, and what it cites', () => {
  const content = [
    {
      type: 'output_text',
      text: '<b>**hi**</b>',
      annotations: [{ type: 'url_citation', title: 'A page', url: 'https://a.example/x' }, { url: 'javascript:alert(1)' }],
    },
    { type: 'refusal', refusal: 'I will not.' },
    { type: 'new_part', data: 1 },
  ]
  expect(viewOf({ type: 'message', content })).toEqual({
    kind: 'message',
    parts: [
      {
        kind: 'text',
        text: '<b>**hi**</b>',
        annotations: [
          { text: 'A page', url: 'https://a.example/x' },
          { text: '{"url":"javascript:alert(1)"}', url: undefined },
        ],
        images: [],
        links: [],
      },
      { kind: 'refusal', text: 'I will not.', annotations: [], images: [], links: [] },
      { kind: 'other', text: 'type: new_part\ndata: 1', annotations: [], images: [], links: [] },
    ],
  })
})

it('reasoning shows its summary and its text, or that it is encrypted', () => {
  const item = { type: 'reasoning', summary: [{ type: 'summary_text', text: 'Short' }], content: [{ type: 'reasoning_text', text: 'Long' }] }
  expect(viewOf(item)).toEqual({ kind: 'reasoning', text: 'Short\n\nLong', isSealed: false })
  expect(viewOf({ type: 'reasoning', summary: [], encrypted_content: 'x' })).toEqual({ kind: 'reasoning', text: '', isSealed: true })
})

it('a call shows its name and arguments, an item of an unknown type all its members', () => {
  expect(viewOf({ type: 'function_call', id: 'fc', call_id: 'c', name: 'f', arguments: '{"a":1}', status: 'completed' })).toEqual({
    kind: 'step',
    title: 'f',
    type: 'function_call',
    status: 'completed',
    fields: [['arguments', '{\n  "a": 1\n}']],
    images: [],
    links: [],
  })
  expect(viewOf({ type: 'x:new', id: 'st', result: ['a'], error: null, page: 'https://a.example' })).toMatchObject({
    title: 'x:new',
    fields: [['result', '[\n  "a"\n]']],
    links: ['https://a.example'],
  })
})

it('an image is shown once, and only when it is in the answer itself', () => {
  expect(viewOf({ type: 'image_generation_call', result: PIXEL, imageB64: PIXEL })).toMatchObject({
    images: [`data:image/png;base64,${PIXEL}`],
    fields: [],
  })
  expect(viewOf({ type: 'image_generation_call', result: 'https://a.example/i.png' })).toMatchObject({
    images: [],
    links: ['https://a.example/i.png'],
  })
  expect([imageOf('data:text/html,x'), imageOf('iVBORw0KGgo <b>'), imageOf(1)]).toEqual([undefined, undefined, undefined])
})

it('only http and https URLs become links', () => {
  expect(['https://a.example', 'HTTP://a.example', 'javascript:alert(1)', 'ftp://a', 'see https://a.example', 3].map(linkOf)).toEqual([
    'https://a.example',
    'HTTP://a.example',
    undefined,
    undefined,
    undefined,
    undefined,
  ])
})

it('JSON is laid out, text left alone', () => {
  expect([readable('{"a":[1]}'), readable('{not json'), readable('plain'), readable({ b: 1 })]).toEqual([
    '{\n  "a": [\n    1\n  ]\n}',
    '{not json',
    'plain',
    '{\n  "b": 1\n}',
  ])
})
