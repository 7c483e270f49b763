import { describe, expect, it } from 'vitest'
import { decodeResponsesRequest } from '../responses/decode-request.ts'
import { chatCompletions } from './door.ts'
import { toItems, type ChatMessage } from './history.ts'
import { thoughtsOf, type ReasoningDetail } from './reasoning-details.ts'

const user = (content: ChatMessage['content'], name?: string): ChatMessage => ({ role: 'user', content, ...(name === undefined ? {} : { name }) })

describe('messages', () => {
  it('of users and tools keep their role and their text', () => {
    expect(toItems([{ role: 'system', content: 'S' }, { role: 'developer', content: 'D' }, user('U'), user(null)])).toEqual([
      { type: 'message', role: 'system', content: 'S' },
      { type: 'message', role: 'developer', content: 'D' },
      { type: 'message', role: 'user', content: 'U' },
      { type: 'message', role: 'user', content: '' },
    ])
  })

  it('keep the name of the speaker', () => {
    expect(toItems([user('Hi', 'ada'), user([{ type: 'text', text: 'Hi' }], 'bob'), user('Hi', '')]).map((item) => item['content' as never])).toEqual(
      ['ada: Hi', [{ type: 'input_text', text: 'bob: Hi' }], 'Hi'],
    )
  })

  it('hold pictures, sound, films and files', () => {
    const content = [
      { type: 'text', text: 'Look', cache_control: { type: 'ephemeral', ttl: '1h' } },
      { type: 'text', text: 'Keep', prompt_cache_breakpoint: { mode: 'explicit', ttl: '12h' } },
      { type: 'image_url', image_url: { url: 'https://a.example/p.png', detail: 'low' } },
      { type: 'image_url', image_url: 'data:image/png;base64,AA' },
      { type: 'input_audio', input_audio: { data: 'AA', format: 'wav' } },
      { type: 'video_url', video_url: { url: 'https://a.example/v.mp4' } },
      { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,AA' } },
      { type: 'file', file: { file_data: 'https://a.example/a.pdf' } },
      { type: 'file', file: { file_id: 'file-1' } },
    ] as unknown as ChatMessage['content']
    expect(toItems([user(content)])).toEqual([
      {
        type: 'message',
        role: 'user',
        content: [
          { type: 'input_text', text: 'Look', prompt_cache_breakpoint: { mode: 'explicit', ttl: '1h' } },
          { type: 'input_text', text: 'Keep', prompt_cache_breakpoint: { mode: 'explicit', ttl: '12h' } },
          { type: 'input_image', image_url: 'https://a.example/p.png', detail: 'low' },
          { type: 'input_image', image_url: 'data:image/png;base64,AA', detail: 'auto' },
          { type: 'input_audio', input_audio: { data: 'AA', format: 'wav' } },
          { type: 'input_video', video_url: 'https://a.example/v.mp4' },
          { type: 'input_file', file_data: 'data:application/pdf;base64,AA', filename: 'a.pdf' },
          { type: 'input_file', file_url: 'https://a.example/a.pdf' },
          { type: 'input_file', file_id: 'file-1' },
        ],
      },
    ])
  })

  it('of a model become its thoughts, its words and its calls, in this order; results answer the kind of call they are for', () => {
    const items = toItems([
      {
        role: 'assistant',
        content: 'I look.',
        reasoning: 'Hm.',
        tool_calls: [
          { id: 'a', type: 'function', function: { name: 'look', arguments: '{"x":1}' } },
          { id: 'b', type: 'custom', custom: { name: 'write', input: 'text' } },
          { id: 'c', type: 'function', function: { name: 'now', arguments: '' } },
        ],
      },
      { role: 'tool', tool_call_id: 'a', content: 'seen' },
      { role: 'tool', tool_call_id: 'b', content: [{ type: 'text', text: 'written' }] },
    ])
    expect(items).toEqual([
      { type: 'reasoning', summary: [], content: [{ type: 'reasoning_text', text: 'Hm.' }] },
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'I look.' }] },
      { type: 'function_call', call_id: 'a', name: 'look', arguments: '{"x":1}' },
      { type: 'custom_tool_call', call_id: 'b', name: 'write', input: 'text' },
      { type: 'function_call', call_id: 'c', name: 'now', arguments: '{}' },
      { type: 'function_call_output', call_id: 'a', output: 'seen' },
      { type: 'custom_tool_call_output', call_id: 'b', output: [{ type: 'input_text', text: 'written' }] },
    ])
  })

  it('of a model without content become no item; refusals and images do', () => {
    expect(
      toItems([
        { role: 'assistant', content: '' },
        { role: 'assistant', content: null },
      ]),
    ).toEqual([])
    expect(toItems([{ role: 'assistant', refusal: 'No.' }])).toEqual([
      { type: 'message', role: 'assistant', content: [{ type: 'refusal', refusal: 'No.' }] },
    ])
    expect(toItems([{ role: 'assistant', images: [{ image_url: { url: 'data:image/webp;base64,AA' } }] }])).toEqual([
      { type: 'image_generation_call', status: 'completed', result: 'AA', output_format: 'webp' },
    ])
    expect(toItems([{ role: 'assistant', images: [{ image_url: { url: 'https://a.example/p' } }] }])).toEqual([
      { type: 'image_generation_call', status: 'completed', result: 'https://a.example/p' },
    ])
  })
})

describe('parts that an answer in a history may have', () => {
  const file = { type: 'file', file: { filename: 'a.txt', file_data: 'data:text/plain;base64,aGk=' } }
  const sound = { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } }
  const film = { type: 'video_url', video_url: { url: 'https://example.com/a.mp4' } }
  const page = { type: 'document_url', document_url: 'https://example.com/a.pdf' }

  it.each([
    [file, { type: 'input_file', filename: 'a.txt', file_data: 'data:text/plain;base64,aGk=' }],
    [sound, sound],
    [film, { type: 'input_video', video_url: 'https://example.com/a.mp4' }],
    [
      { ...film, type: 'input_video' },
      { type: 'input_video', video_url: 'https://example.com/a.mp4' },
    ],
    [page, { type: 'input_file', file_url: 'https://example.com/a.pdf' }],
  ])('are those of every other message: %j', (part, item) => {
    const messages = [
      { role: 'assistant', content: [{ type: 'text', text: 'See:' }, part] },
      { role: 'user', content: 'Thanks' },
    ]
    const { input } = decodeResponsesRequest(chatCompletions.read({ model: 'acme/small', messages }).body)
    expect(input).toMatchObject([{ role: 'assistant', content: [{ type: 'output_text', text: 'See:' }, item] }, { role: 'user' }])
  })
})

describe('reasoning that is sent back', () => {
  const text = (text: string, more: object = {}): ReasoningDetail => ({
    type: 'reasoning.text',
    text,
    id: 'rs_1',
    format: 'anthropic-claude-v1',
    index: 0,
    ...more,
  })
  const sealed = (more: object = {}): ReasoningDetail => ({
    type: 'reasoning.encrypted',
    data: 'sb1.x',
    id: 'rs_1',
    format: 'anthropic-claude-v1',
    index: 1,
    ...more,
  })
  const whole = {
    type: 'reasoning',
    id: 'rs_1',
    summary: [],
    content: [{ type: 'reasoning_text', text: 'Let me see' }],
    encrypted_content: 'sb1.x',
    signature: 's',
    format: 'anthropic-claude-v1',
  }

  it('is one item, whether the client joined the pieces of the stream or kept them', () => {
    expect(thoughtsOf([text('Let me see', { signature: 's' }), sealed()], null)).toEqual([whole])
    expect(thoughtsOf([text('Let me'), text(' see'), text('', { signature: 's' }), sealed()], 'Let me see')).toEqual([whole])
  })

  it('is used once where a client sends it with every part of its message', () => {
    const joined = text('Let me see', { signature: 's' })
    // As kept with a whole answer, and as kept with a stream, where the last piece stands for the thought.
    expect(thoughtsOf([joined, sealed(), joined, sealed(), joined, sealed()], 'Let me see[REDACTED]')).toEqual([whole])
    expect(thoughtsOf([sealed(), joined, sealed(), joined, sealed()], 'Let me see[REDACTED]')).toEqual([whole])
    const plain = [text(' see'), text('Let me see'), text('Let me see')]
    expect(thoughtsOf(plain, 'Let me see')).toMatchObject([{ content: [{ text: 'Let me see' }] }])
    // Sometimes only a later copy has the signature.
    expect(thoughtsOf([text('Let me see'), joined, sealed()], 'Let me see')).toEqual([whole])
  })

  it('keeps text that occurs twice in it', () => {
    const pieces = ['ha', 'ha', 'ha'].map((said) => text(said))
    expect(thoughtsOf(pieces, 'hahaha')).toMatchObject([{ content: [{ text: 'hahaha' }] }])
    expect(thoughtsOf([text('ha'), sealed(), text('ha', { id: 'rs_2', index: 2 })], 'haha')).toHaveLength(2)
    expect(thoughtsOf([text('ha'), text('ho'), text('ha', { index: 1 })], 'ha\nho\nha')).toMatchObject([
      { content: [{ text: 'haho' }, { text: 'ha' }] },
    ])
    // If the plain text is a different one, it says nothing about the pieces.
    expect(thoughtsOf(pieces, 'x')).toMatchObject([{ content: [{ text: 'hahaha' }] }])
  })

  it('is several items where the ids differ, or where an end is between them', () => {
    expect(thoughtsOf([text('a'), sealed(), text('b', { id: 'rs_2', index: 2 })], null).map(({ id }) => id)).toEqual(['rs_1', 'rs_2'])
    const bare = { id: null, index: undefined }
    expect(thoughtsOf([text('a', bare), sealed(bare), text('b', bare)], null)).toHaveLength(2)
  })

  it('keeps summaries apart from the text, part by part', () => {
    const summary = (summary: string, index: number): ReasoningDetail => ({ type: 'reasoning.summary', summary, id: 'rs_1', index })
    expect(thoughtsOf([summary('a', 0), summary('b', 0), summary('c', 1)], null)).toEqual([
      {
        type: 'reasoning',
        id: 'rs_1',
        summary: [
          { type: 'summary_text', text: 'ab' },
          { type: 'summary_text', text: 'c' },
        ],
      },
    ])
  })

  it('is plain text if there is nothing else; unknown types are ignored', () => {
    expect(thoughtsOf([{ type: 'reasoning.server_tool_call' }], 'Hm.')).toEqual([
      { type: 'reasoning', summary: [], content: [{ type: 'reasoning_text', text: 'Hm.' }] },
    ])
    expect(thoughtsOf(undefined, '')).toEqual([])
    expect(thoughtsOf('', '')).toEqual([])
    expect(thoughtsOf('Hm.', null)).toEqual(thoughtsOf(null, 'Hm.'))
    expect(thoughtsOf('Hm.', 'Hm.')).toEqual(thoughtsOf(null, 'Hm.'))
  })
})
