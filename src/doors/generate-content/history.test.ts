import { describe, expect, it } from 'vitest'
import { sealReasoning } from '../../core/reasoning-envelope.ts'
import { toItems, type Content } from './history.ts'
import { writeSeal } from './seal.ts'

const user = (...parts: readonly object[]): Content => ({ role: 'user', parts })
const model = (...parts: readonly object[]): Content => ({ role: 'model', parts })
const says = (text: string) => ({ type: 'message', role: 'assistant', content: [{ type: 'output_text', text }] })
const asks = (...content: readonly object[]) => ({ type: 'message', role: 'user', content })
const words = (text: string) => ({ type: 'input_text', text })

describe('content of a user', () => {
  it.each<readonly [string, object, object]>([
    ['words', { text: 'Hi' }, words('Hi')],
    [
      'a picture',
      { inlineData: { mimeType: 'image/png', data: 'QQ==' } },
      { type: 'input_image', image_url: 'data:image/png;base64,QQ==', detail: 'auto' },
    ],
    [
      'bytes in the alphabet of URLs',
      { inlineData: { mimeType: 'image/png', data: '-_8=' } },
      { type: 'input_image', image_url: 'data:image/png;base64,+/8=', detail: 'auto' },
    ],
    ['sound', { inlineData: { mimeType: 'audio/mpeg', data: 'QQ==' } }, { type: 'input_audio', input_audio: { data: 'QQ==', format: 'mp3' } }],
    ['a film', { inlineData: { mimeType: 'video/mp4', data: 'QQ==' } }, { type: 'input_video', video_url: 'data:video/mp4;base64,QQ==' }],
    [
      'a document',
      { inlineData: { mimeType: 'application/pdf', data: 'QQ==', displayName: 'a.pdf' } },
      { type: 'input_file', file_data: 'data:application/pdf;base64,QQ==', filename: 'a.pdf' },
    ],
    [
      'a text in a file',
      { inlineData: { mimeType: 'text/plain', data: Buffer.from('Hällo').toString('base64'), displayName: 'a.txt' } },
      { type: 'input_text', text: 'a.txt\nHällo', quoted: true },
    ],
    [
      'a picture by its address',
      { fileData: { fileUri: 'https://x.test/a', mimeType: 'image/png' } },
      { type: 'input_image', image_url: 'https://x.test/a', detail: 'auto' },
    ],
    ['a film by its address', { fileData: { fileUri: 'https://youtu.be/x' } }, { type: 'input_video', video_url: 'https://youtu.be/x' }],
    [
      'a file by its address',
      { fileData: { fileUri: 'https://x.test/a.pdf', mimeType: 'application/pdf' } },
      { type: 'input_file', file_url: 'https://x.test/a.pdf' },
    ],
  ])('%s', (_name, part, expected) => {
    expect(toItems([user(part)])).toEqual([asks(expected)])
  })
})

describe('parts about tools that the vendor ran itself', () => {
  it('are left out, with everything else of the turn kept', () => {
    const ran = [
      { toolCall: { id: 't', toolType: 'GOOGLE_SEARCH_WEB', args: { queries: ['q'] } } },
      { toolResponse: { id: 't', toolType: 'GOOGLE_SEARCH_WEB', response: {} } },
    ]
    expect(toItems([user({ text: 'Hi' }), model(...ran, { text: 'Found' }), user(...ran, { text: 'And?' })])).toEqual([
      asks(words('Hi')),
      says('Found'),
      asks(words('And?')),
    ])
  })

  it('are left out with their signatures, which cover no other part', () => {
    const ran = [
      { toolCall: { id: 't', toolType: 'GOOGLE_SEARCH_WEB' }, thoughtSignature: 'c2lnbmVk' },
      { toolResponse: { id: 't', toolType: 'GOOGLE_SEARCH_WEB' }, thoughtSignature: 'YXBhcnQ=' },
    ]
    expect(toItems([model({ text: 'Why', thought: true }, ...ran, { text: 'Found', thoughtSignature: 'b3du' })])).toEqual([
      { type: 'reasoning', summary: [{ type: 'summary_text', text: 'Why' }], signature: 'b3du', format: 'google-gemini-v1' },
      says('Found'),
    ])
    expect(toItems([model(...ran)])).toEqual([])
  })
})

describe('calls and their results', () => {
  const go = (id?: string, name = 'go') => ({ functionCall: { ...(id === undefined ? {} : { id }), name, args: { a: 1 } } })
  const came = (id?: string, name = 'go') => ({ functionResponse: { ...(id === undefined ? {} : { id }), name, response: { output: 'well' } } })
  const idsOf = (...contents: readonly Content[]) => toItems(contents).flatMap((item) => ('call_id' in item ? [item['call_id']] : []))

  it('are matched by their ids', () => {
    expect(idsOf(model(go('x'), go('y')), user(came('y'), came('x')))).toEqual(['x', 'y', 'y', 'x'])
  })
  it('are matched by their names and their order, where there are no ids', () => {
    expect(idsOf(model(go(), go(undefined, 'see'), go()), user(came(undefined, 'see'), came(), came()))).toEqual([
      'call_0',
      'call_1',
      'call_2',
      'call_1',
      'call_0',
      'call_2',
    ])
  })
  it('are matched by their names, where only the result has an id', () => {
    expect(idsOf(model(go()), user(came('made-up')))).toEqual(['call_0', 'call_0'])
  })
  it('get different ids for all calls of a conversation', () => {
    expect(idsOf(model(go()), user(came()), model(go('call_0'), go()), user(came('call_0'), came()))).toEqual([
      'call_1',
      'call_1',
      'call_0',
      'call_2',
      'call_0',
      'call_2',
    ])
  })

  it.each<readonly [string, object, object]>([
    ['what came of it', { response: { output: 'well' } }, { output: 'well' }],
    ['an object that came of it', { response: { output: { a: 1 } } }, { output: '{"a":1}' }],
    ['an object around it', { response: { a: 1, output: 2 } }, { output: '{"a":1,"output":2}' }],
    ['a failure', { response: { error: 'no' } }, { output: [words('Error:'), words('no')], failed: true }],
    ['nothing', { response: null }, { output: '{}' }],
    [
      'a picture',
      { response: { output: 'see' }, parts: [{ inlineData: { mimeType: 'image/png', data: 'QQ==' } }] },
      { output: [words('see'), { type: 'input_image', image_url: 'data:image/png;base64,QQ==', detail: 'auto' }] },
    ],
  ])('%s', (_name, functionResponse, expected) => {
    expect(toItems([model(go('x')), user({ functionResponse: { id: 'x', name: 'go', ...functionResponse } })])[1]).toEqual({
      type: 'function_call_output',
      call_id: 'x',
      ...expected,
    })
  })

  it('are matched in linear time', () => {
    const many = 60_000
    const ids = idsOf(
      model(...Array.from({ length: many }, (_, n) => go(`x${n}`, `f${n % 7}`))),
      user(...Array.from({ length: many }, (_, n) => came(`x${many - 1 - n}`, 'nobody'))),
    )
    expect([ids.length, ids[0], ids.at(-1)]).toEqual([2 * many, 'x0', 'x0'])
  })

  it('may have results in the older role "function"', () => {
    expect(toItems([model(go()), { role: 'function', parts: [came()] }])).toMatchObject([
      { type: 'function_call' },
      { type: 'function_call_output', output: 'well' },
    ])
  })
})

describe('content of a model', () => {
  const envelope = (at?: readonly [number, number]) =>
    sealReasoning({ format: 'acme-v1', scope: 's', data: 'secret', ...(at === undefined ? {} : { at }) })
  const sealed = (at?: readonly [number, number]) => ({ thoughtSignature: writeSeal(envelope(at)) })
  const thought = (at?: readonly [number, number], ...texts: readonly string[]) => ({
    type: 'reasoning',
    summary: texts.map((text) => ({ type: 'summary_text', text })),
    encrypted_content: envelope(at),
  })

  it('is one answer, however many turns a client splits it into', () => {
    expect(toItems([model({ text: 'Hel' }), model({ text: 'lo' }, { text: '' }), model({ text: '!' })])).toEqual([says('Hello!')])
  })

  it('may be an image', () => {
    expect(toItems([model({ inlineData: { mimeType: 'image/png', data: 'QQ==' } })])).toEqual([
      { type: 'image_generation_call', status: 'completed', result: 'QQ==', output_format: 'png' },
    ])
  })

  it('may be an image that was shown by its address', () => {
    const shown = { type: 'image_generation_call', status: 'completed', result: 'https://a.test/p' }
    expect(toItems([model({ fileData: { fileUri: 'https://a.test/p' } })])).toEqual([shown])
    expect(toItems([model({ fileData: { fileUri: 'https://a.test/p', mimeType: 'image/webp' } })])).toEqual([shown])
    expect(toItems([model({ fileData: { fileUri: 'https://a.test/p', mimeType: 'application/pdf' } })])).toMatchObject([{ type: 'message' }])
  })

  it('may be code and its result', () => {
    const code = { executableCode: { language: 'PYTHON', code: 'print(1)' } }
    expect(toItems([model(code, { codeExecutionResult: { outcome: 'OUTCOME_OK', output: '1' } }, { text: 'One.' })])).toEqual([
      {
        type: 'code_interpreter_call',
        status: 'completed',
        code: 'print(1)',
        container_id: 'code_execution',
        outputs: [{ type: 'logs', logs: '1' }],
      },
      says('One.'),
    ])
  })

  describe('thoughts', () => {
    it('are before the part that carries their signature', () => {
      expect(toItems([model({ text: 'A', ...sealed() }, { functionCall: { id: 'x', name: 'go' }, ...sealed() })])).toEqual([
        thought(),
        says('A'),
        thought(),
        { type: 'function_call', call_id: 'x', name: 'go', arguments: '{}' },
      ])
    })
    it('keep their shown text, if it is sent back', () => {
      expect(toItems([model({ text: 'Hm. ', thought: true }, { text: 'Well.', thought: true }, { text: 'A', ...sealed() })])).toEqual([
        thought(undefined, 'Hm. Well.'),
        says('A'),
      ])
    })
    it('are one item, even with a keep-alive between them', () => {
      const kept = model({ text: 'Hm. ', thought: true }, { text: '' }, { text: 'Well.', thought: true }, { text: '' }, { text: 'A', ...sealed() })
      expect(toItems([kept])).toEqual([thought(undefined, 'Hm. Well.'), says('A')])
    })
    it('without content after them are not lost', () => {
      expect(toItems([model({ text: 'A' }, { text: '', ...sealed() })])).toEqual([says('A'), thought()])
      expect(toItems([model({ text: 'Hm.', thought: true })])).toEqual([{ type: 'reasoning', summary: [{ type: 'summary_text', text: 'Hm.' }] }])
    })
    it('whose signature came late return to their place', () => {
      const place = [3, 1] as const
      const go = { functionCall: { id: 'x', name: 'go' } }
      expect(toItems([model({ text: 'One' }, go, { text: 'Two' }, { text: '', ...sealed(place) })]).map(({ type }) => type)).toEqual([
        'message',
        'function_call',
        'reasoning',
        'message',
      ])
      expect(toItems([model({ text: 'OneTwo' }, { text: '', ...sealed([3, 0]) })])).toEqual([says('One'), thought([3, 0]), says('Two')])
      expect(toItems([model({ text: 'One' }, { text: '', ...sealed([0, 0]) })])).toEqual([thought([0, 0]), says('One')])
    })
    it('are put back in linear time', () => {
      const many = 20_000
      const items = toItems([model({ text: 'One' }, ...Array.from({ length: many }, () => ({ text: '', ...sealed([0, 0]) })))])
      expect([items.length, items.at(-1)]).toEqual([many + 1, says('One')])
    })
    it('whose signature is on the text and on the call after it are one item, whichever is sent back', () => {
      const place = [0, 0] as const
      const go = { functionCall: { id: 'x', name: 'go' }, ...sealed(place) }
      const called = { type: 'function_call', call_id: 'x', name: 'go', arguments: '{}' }
      expect(toItems([model({ text: 'One', ...sealed() }, go)])).toEqual([thought(), says('One'), called])
      expect(toItems([model({ text: 'One' }, go)])).toEqual([thought(place), says('One'), called])
      expect(toItems([model({ text: 'Hm.', thought: true }, { text: 'One' }, go)])).toEqual([thought(place, 'Hm.'), says('One'), called])
    })
    it('have no signature of their own if it repeats an earlier one', () => {
      const go = { functionCall: { id: 'x', name: 'go' }, ...sealed([0, 0]) }
      const hm = { type: 'reasoning', summary: [{ type: 'summary_text', text: 'Hm.' }] }
      const called = { type: 'function_call', call_id: 'x', name: 'go', arguments: '{}' }
      expect(toItems([model({ text: 'One', ...sealed() }, { text: 'Hm.', thought: true }, go)])).toEqual([thought(), says('One'), hm, called])
    })
    it('signed by a vendor belong to that vendor', () => {
      expect(toItems([model({ text: 'A', thoughtSignature: 'CiQB' })])).toEqual([
        { type: 'reasoning', summary: [], signature: 'CiQB', format: 'google-gemini-v1' },
        says('A'),
      ])
    })
    it.each(['skip_thought_signature_validator', 'c2tpcF90aG91Z2h0X3NpZ25hdHVyZV92YWxpZGF0b3I=', 'context_engineering_is_the_way_to_go', ''])(
      'are not created from a placeholder signature (%s)',
      (thoughtSignature) => {
        expect(toItems([model({ text: 'A', thoughtSignature })])).toEqual([says('A')])
      },
    )
  })
})
