import { describe, expect, it } from 'vitest'
import type { InputItem } from '../../core/item.ts'
import { sealReasoning } from '../../core/reasoning-envelope.ts'
import type { Block, Message } from './block.ts'
import { systemOf, toItems } from './history.ts'
import { UNSEALED } from './late-seal.ts'
import { messagesToResponses } from './to-responses.ts'

const user = (...content: readonly Block[]): Message => ({ role: 'user', content })
const assistant = (...content: readonly Block[]): Message => ({ role: 'assistant', content })
const text = (words: string, more: object = {}): Block => ({ type: 'text', text: words, ...more })
const marked = { cache_control: { type: 'ephemeral' } }
const mark = { prompt_cache_breakpoint: { mode: 'explicit' } }
const contentOf = (message: Message): unknown => (toItems([message])[0] as { readonly content: unknown }).content
const outputOf = (result: object): unknown =>
  (toItems([user({ type: 'tool_result', tool_use_id: 'a', ...result })])[0] as { readonly output: unknown }).output

describe('messages', () => {
  it('keep their role and their text', () => {
    expect(
      toItems([
        { role: 'user', content: 'U' },
        { role: 'assistant', content: 'A' },
        { role: 'system', content: [text('S')] },
        assistant(text('B')),
        { role: 'assistant', content: '' },
      ]),
    ).toEqual([
      { type: 'message', role: 'user', content: 'U' },
      { type: 'message', role: 'assistant', content: 'A' },
      { type: 'message', role: 'system', content: [{ type: 'input_text', text: 'S' }] },
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'B' }] },
    ])
  })

  it('may show a document of as many texts as a body can hold', () => {
    const content = Array.from({ length: 125_000 }, () => text('x'))
    expect(contentOf(user({ type: 'document', source: { type: 'content', content } }))).toHaveLength(125_000)
  })
  it('keep cache breakpoints with their lifetimes', () => {
    expect(
      contentOf(user(text('a', marked), text('b', { cache_control: { type: 'ephemeral', ttl: '1h' } }), text('c', { cache_control: null }))),
    ).toEqual([
      { type: 'input_text', text: 'a', ...mark },
      { type: 'input_text', text: 'b', prompt_cache_breakpoint: { mode: 'explicit', ttl: '1h' } },
      { type: 'input_text', text: 'c' },
    ])
  })

  it('keep cache breakpoints on text and calls of the model', () => {
    const said = [text('a', marked), { type: 'tool_use', id: 'c', name: 'f', input: {}, ...marked }]
    expect(toItems([{ role: 'assistant', content: said }])).toEqual([
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'a', ...mark }] },
      { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}', ...mark },
    ])
  })

  it('keep which documents are to be cited, and titles of texts', () => {
    const document = (source: object, more: object = {}): Block => ({ type: 'document', source, citations: { enabled: true }, ...more })
    const source = { type: 'text', media_type: 'text/plain', data: 'a\nb' }
    const pdf = { type: 'base64', media_type: 'application/pdf', data: 'AA' }
    const picture = { type: 'image', source: { type: 'url', url: 'https://a.example/p' } }
    const content = [
      document(source, { title: 'Of\nLetters', ...marked }),
      document(source),
      document(source, { citations: { enabled: false } }),
      document({ type: 'content', content: [text('a'), text('b')] }, { context: 'c' }),
      document({ type: 'content', content: [text('a'), picture] }),
      document(pdf, { title: 'a.pdf' }),
    ]
    expect(contentOf(user(...content))).toEqual([
      { type: 'input_text', text: 'Of Letters\na\nb', cited: { titled: true }, quoted: true, ...mark },
      { type: 'input_text', text: 'a\nb', cited: { titled: false }, quoted: true },
      { type: 'input_text', text: 'a\nb', quoted: true },
      { type: 'input_text', text: 'c' },
      { type: 'input_text', text: 'a\nb', cited: { titled: false, blocks: [1, 1] }, quoted: true },
      { type: 'input_text', text: 'a', quoted: true },
      { type: 'input_image', image_url: 'https://a.example/p', detail: 'auto' },
      { type: 'input_file', file_data: 'data:application/pdf;base64,AA', filename: 'a.pdf', cited: {} },
    ])
  })

  it('keep which search results are to be cited', () => {
    const result = { type: 'search_result', source: 'https://a.example', title: 'A', content: [text('b'), text('cd')] }
    const cited = { ...result, citations: { enabled: true } }
    const sent = { type: 'input_text', text: 'A\nhttps://a.example\nb\ncd', quoted: true }
    const mark = { cited: { titled: true, sourced: true, blocks: [1, 2] } }
    expect(contentOf(user(cited, result))).toEqual([{ ...sent, ...mark }, sent])
    expect(outputOf({ content: [cited] })).toEqual([{ ...sent, ...mark }])
    expect(outputOf({ content: [result] })).toBe(sent.text)
  })

  it('keep cache breakpoints on images and documents', () => {
    const image = { type: 'image', source: { type: 'url', url: 'https://a.example/p' }, ...marked }
    const document = (source: object): Block => ({ type: 'document', source, ...marked })
    expect(contentOf(user(image))).toEqual([{ type: 'input_image', image_url: 'https://a.example/p', detail: 'auto', ...mark }])
    expect(
      contentOf(
        user(
          document({ type: 'base64', media_type: 'application/pdf', data: 'AA' }),
          document({ type: 'url', url: 'https://a.example/d' }),
          document({ type: 'file', file_id: 'f' }),
          document({ type: 'content', content: [text('a'), text('b')] }),
        ),
      ),
    ).toEqual([
      { type: 'input_file', file_data: 'data:application/pdf;base64,AA', ...mark },
      { type: 'input_file', file_url: 'https://a.example/d', ...mark },
      { type: 'input_file', file_id: 'f', ...mark },
      { type: 'input_text', text: 'a', quoted: true },
      { type: 'input_text', text: 'b', quoted: true, ...mark },
    ])
  })

  it.each<readonly [string, object, readonly object[]]>([
    [
      'a picture',
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AA' } },
      [{ type: 'input_image', image_url: 'data:image/png;base64,AA', detail: 'auto' }],
    ],
    [
      'its address',
      { type: 'image', source: { type: 'url', url: 'https://a.example/p' } },
      [{ type: 'input_image', image_url: 'https://a.example/p', detail: 'auto' }],
    ],
    ['its id', { type: 'image', source: { type: 'file', file_id: 'f' } }, [{ type: 'input_image', file_id: 'f', detail: 'auto' }]],
    [
      'a document',
      { type: 'document', title: 'a.pdf', source: { type: 'base64', media_type: 'application/pdf', data: 'AA' } },
      [{ type: 'input_file', file_data: 'data:application/pdf;base64,AA', filename: 'a.pdf' }],
    ],
    [
      'its address',
      { type: 'document', source: { type: 'url', url: 'https://a.example/d' } },
      [{ type: 'input_file', file_url: 'https://a.example/d' }],
    ],
    ['its id', { type: 'document', source: { type: 'file', file_id: 'f' } }, [{ type: 'input_file', file_id: 'f' }]],
    [
      'a document of plain text, with what it is about',
      { type: 'document', title: 'T', context: 'C', source: { type: 'text', media_type: 'text/plain', data: 'D' }, ...marked },
      [
        { type: 'input_text', text: 'C' },
        { type: 'input_text', text: 'T\nD', quoted: true, ...mark },
      ],
    ],
    ['one of blocks', { type: 'document', source: { type: 'content', content: [text('D')] } }, [{ type: 'input_text', text: 'D', quoted: true }]],
    ['one of a string', { type: 'document', source: { type: 'content', content: 'D' } }, [{ type: 'input_text', text: 'D', quoted: true }]],
    [
      'one of blocks under its title',
      { type: 'document', title: 'T', context: 'C', source: { type: 'content', content: [text('D'), text('E')] }, ...marked },
      [
        { type: 'input_text', text: 'C' },
        { type: 'input_text', text: 'T', quoted: true },
        { type: 'input_text', text: 'D', quoted: true },
        { type: 'input_text', text: 'E', quoted: true, ...mark },
      ],
    ],
    [
      'one of a string under its title',
      { type: 'document', title: 'T', source: { type: 'content', content: 'D' } },
      [
        { type: 'input_text', text: 'T', quoted: true },
        { type: 'input_text', text: 'D', quoted: true },
      ],
    ],
    [
      'what a search of the caller’s found',
      { type: 'search_result', title: 'T', source: 'https://a.example', content: [text('a'), text('b')] },
      [{ type: 'input_text', text: 'T\nhttps://a.example\na\nb', quoted: true }],
    ],
  ])('hold %s', (_name, block, parts) => {
    expect(contentOf(user(block as Block))).toEqual(parts)
  })

  it('hold nothing of a document without content', () => {
    const empty = { type: 'document', title: 'T', source: { type: 'content', content: [] } }
    expect(contentOf(user(text('D'), empty as unknown as Block))).toEqual([{ type: 'input_text', text: 'D' }])
  })
})

describe('calls and their results', () => {
  it('are items of their own, in the order of their blocks', () => {
    expect(
      toItems([
        assistant(text('I look.'), { type: 'tool_use', id: 'a', name: 'look', input: { x: 1 } }, { type: 'tool_use', id: 'b', name: 'now' }),
        user(
          { type: 'tool_result', tool_use_id: 'a', content: 'seen' },
          { type: 'tool_result', tool_use_id: 'b', content: [text('now')] },
          text('Well?'),
        ),
      ]),
    ).toEqual([
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'I look.' }] },
      { type: 'function_call', call_id: 'a', name: 'look', arguments: '{"x":1}' },
      { type: 'function_call', call_id: 'b', name: 'now', arguments: '{}' },
      { type: 'function_call_output', call_id: 'a', output: 'seen' },
      { type: 'function_call_output', call_id: 'b', output: 'now' },
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Well?' }] },
    ])
  })

  it.each<readonly [string, object, unknown]>([
    [
      'a picture beside words',
      { content: [text('a'), { type: 'image', source: { type: 'url', url: 'u' } }] },
      [
        { type: 'input_text', text: 'a' },
        { type: 'input_image', image_url: 'u', detail: 'auto' },
      ],
    ],
    [
      'a failure',
      { content: 'no such file', is_error: true },
      [
        { type: 'input_text', text: 'Error:' },
        { type: 'input_text', text: 'no such file' },
      ],
    ],
    [
      'a mark, which is one of its last part',
      { content: [text('a'), { type: 'image', source: { type: 'url', url: 'u' } }], ...marked },
      [
        { type: 'input_text', text: 'a' },
        { type: 'input_image', image_url: 'u', detail: 'auto', ...mark },
      ],
    ],
    ['nothing', {}, ''],
    ['a list of nothing', { content: [] }, ''],
    ['a failure nobody explains', { is_error: true }, 'Error:'],
    [
      'a mark, which is one of its last words',
      { content: [text('a'), text('b')], ...marked },
      [
        { type: 'input_text', text: 'a' },
        { type: 'input_text', text: 'b', ...mark },
      ],
    ],
    ['a tool that was found', { content: [{ type: 'tool_reference', tool_name: 'f' }] }, '[f]'],
  ])('hold %s', (_name, result, output) => {
    expect(outputOf(result)).toEqual(output)
  })
})

it('failed results are marked as such beside their text, for endpoints that support that', () => {
  const result = (more: object): readonly object[] =>
    toItems([{ role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c', content: 'x', ...more }] }])
  expect(result({ is_error: true })).toMatchObject([{ type: 'function_call_output', failed: true }])
  expect(result({ is_error: false })[0]).not.toHaveProperty('failed')
})

it('a fetched page is read back as the item of the gateway’s own tool', () => {
  const document = { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'All of it.' }, title: 'A' }
  const back = (content: object): readonly object[] =>
    toItems([
      assistant(
        { type: 'server_tool_use', id: 's', name: 'web_fetch', input: { url: 'https://a.example' } },
        { type: 'web_fetch_tool_result', tool_use_id: 's', content },
      ),
    ])
  expect(back({ type: 'web_fetch_result', url: 'https://a.example', content: document })).toEqual([
    { type: 'gateway:web_fetch', status: 'completed', url: 'https://a.example', content: 'All of it.', title: 'A' },
  ])
  const unread = { type: 'base64', media_type: 'application/pdf', data: 'AA' }
  expect(back({ type: 'web_fetch_result', url: 'https://a.example', content: { ...document, source: unread } })).toEqual([])
  expect(back({ type: 'web_fetch_tool_result_error', error_code: 'unavailable' })).toEqual([])
})

it('a search is sent back unchanged to the vendor that ran it', () => {
  const sealed = sealReasoning({ format: 'anthropic-claude-v1', scope: 's', data: '[]' })
  const back = (encrypted: string): readonly object[] =>
    toItems([
      {
        role: 'assistant',
        content: [
          { type: 'server_tool_use', id: 's1', name: 'web_search', input: { query: 'q' } },
          {
            type: 'web_search_tool_result',
            tool_use_id: 's1',
            content: [{ type: 'web_search_result', url: 'https://a.example', title: 'A', encrypted_content: encrypted }],
          },
        ],
      },
    ])
  expect(back(sealed)).toMatchObject([{ type: 'gateway:web_search', encrypted_content: sealed, action: { query: 'q' } }])
  for (const other of ['', 'EqQB', 'sb1.', 'sb1.x.y']) expect(back(other)[0]).not.toHaveProperty('encrypted_content')
})

describe('reasoning that is sent back', () => {
  it.each<readonly [string, Block, object]>([
    [
      'with the seal of the gateway',
      { type: 'thinking', thinking: 'Hm.', signature: 'sb1.e30.x' },
      { content: [{ type: 'reasoning_text', text: 'Hm.' }], encrypted_content: 'sb1.e30.x' },
    ],
    [
      'with a signature of a vendor',
      { type: 'thinking', thinking: 'Hm.', signature: 'Er8B' },
      { content: [{ type: 'reasoning_text', text: 'Hm.' }], signature: 'Er8B' },
    ],
    ['without either', { type: 'thinking', thinking: 'Hm.', signature: '' }, { content: [{ type: 'reasoning_text', text: 'Hm.' }] }],
    ['with the word for neither', { type: 'thinking', thinking: 'Hm.', signature: UNSEALED }, { content: [{ type: 'reasoning_text', text: 'Hm.' }] }],
    ['with nothing to read', { type: 'thinking', thinking: '', signature: 'sb1.e30.x' }, { encrypted_content: 'sb1.e30.x' }],
    ['that nobody may read', { type: 'redacted_thinking', data: 'sb1.e30.x' }, { encrypted_content: 'sb1.e30.x' }],
  ])('%s', (_name, block, item) => {
    expect(toItems([assistant(block)])).toEqual([{ type: 'reasoning', summary: [], ...item }])
  })
})

describe('signatures that came late', () => {
  const late = (place: string, seal = 'sb1.e30.x'): Block => ({ type: 'redacted_thinking', data: `${place}.${seal}` })
  const thinking = (thinking: string, signature = ''): Block => ({ type: 'thinking', thinking, signature })
  const sealed = (encrypted_content: string, ...texts: readonly string[]): object => ({
    type: 'reasoning',
    summary: [],
    ...(texts.length === 0 ? {} : { content: texts.map((words) => ({ type: 'reasoning_text', text: words })) }),
    encrypted_content,
  })
  const said = { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Hi' }] }

  it.each<readonly [string, readonly Block[], readonly object[]]>([
    ['join their thoughts', [thinking('Hm.'), text('Hi'), late('in.0.0')], [sealed('sb1.e30.x', 'Hm.'), said]],
    ['join thoughts that say they have none', [thinking('Hm.', UNSEALED), text('Hi'), late('in.0.0')], [sealed('sb1.e30.x', 'Hm.'), said]],
    ['stand where thoughts nobody may read gave way', [text('Hi'), late('at.0.0')], [sealed('sb1.e30.x'), said]],
    [
      'stand in their order',
      [text('Hi'), late('at.0.1', 'sb1.e30.b'), late('at.0.0', 'sb1.e30.a')],
      [sealed('sb1.e30.a'), sealed('sb1.e30.b'), said],
    ],
    ['bring more thoughts along', [thinking('Hm.'), text('Hi'), thinking('Ah.', 'in.0.0.sb1.e30.x')], [sealed('sb1.e30.x', 'Hm.\n\nAh.'), said]],
    ['stay where they are when what they belong to is gone', [text('Hi'), late('in.7.0')], [said, sealed('sb1.e30.x')]],
    ['of a vendor, too', [text('Hi'), late('at.0.0', 'Er8B')], [{ type: 'reasoning', summary: [], signature: 'Er8B' }, said]],
    [
      'join nothing that came late itself',
      [text('Hi'), thinking('Hm.', 'in.1.0.'), thinking('Ah.', 'in.1.1.sb1.e30.x')],
      [said, { type: 'reasoning', summary: [], content: [{ type: 'reasoning_text', text: 'Hm.' }] }, sealed('sb1.e30.x', 'Ah.')],
    ],
    [
      'leave alone what has a seal',
      [thinking('Hm.', 'sb1.e30.y'), text('Hi'), late('in.0.0')],
      [sealed('sb1.e30.x'), sealed('sb1.e30.y', 'Hm.'), said],
    ],
  ])('%s', (_name, blocks, items) => {
    expect(toItems([assistant(...blocks)])).toEqual(items)
  })
})

it('reasoning without text and signature is dropped', () => {
  for (const signature of ['', UNSEALED])
    expect(toItems([assistant({ type: 'thinking', thinking: '', signature }, { type: 'redacted_thinking', data: '' })])).toEqual([])
})

it('images of an answer are read back as items of the tool that made them', () => {
  const picture = { type: 'image', source: { type: 'base64', media_type: 'image/webp', data: 'AA' } }
  expect(toItems([assistant(text('Look'), picture, text('nice'))])).toEqual([
    { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Look' }] },
    { type: 'image_generation_call', status: 'completed', result: 'AA', output_format: 'webp' },
    { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'nice' }] },
  ])
  expect(toItems([assistant({ type: 'image', source: { type: 'url', url: 'https://a.example/p' } })])).toEqual([
    { type: 'image_generation_call', status: 'completed', result: 'https://a.example/p' },
  ])
  expect(contentOf(assistant({ type: 'image', source: { type: 'url', url: 'u' } }))).toEqual([
    { type: 'input_image', image_url: 'u', detail: 'auto' },
  ])
})

it('items of vendor tools are ignored; a compaction is kept', () => {
  expect(
    toItems([
      assistant(
        { type: 'server_tool_use', id: 's', name: 'web_fetch', input: {} },
        { type: 'web_fetch_tool_result', tool_use_id: 's', content: {} },
        { type: 'compaction', content: 'So far.' },
        { type: 'compaction', content: null },
        text('Done'),
      ),
    ]),
  ).toEqual([
    {
      type: 'message',
      role: 'assistant',
      content: [
        { type: 'output_text', text: 'So far.' },
        { type: 'output_text', text: 'Done' },
      ],
    },
  ])
})

it('a search of the gateway is read back with its results; one without a result is not', () => {
  const found = [{ type: 'web_search_result', url: 'https://a.example', title: 'A', encrypted_content: '' }]
  const items: readonly InputItem[] = toItems([
    assistant(
      { type: 'server_tool_use', id: 's', name: 'web_search', input: { query: 'q' } },
      { type: 'web_search_tool_result', tool_use_id: 's', content: found },
      { type: 'server_tool_use', id: 't', name: 'web_search', input: { query: 'r' } },
    ),
  ])
  expect(items).toEqual([
    { type: 'gateway:web_search', status: 'completed', action: { type: 'search', query: 'q', sources: [{ type: 'url', url: 'https://a.example' }] } },
  ])
})

it('a failed search is read back as failed', () => {
  const failed = { type: 'web_search_tool_result_error', error_code: 'unavailable' }
  const items: readonly InputItem[] = toItems([
    assistant(
      { type: 'server_tool_use', id: 's', name: 'web_search', input: { query: 'q' } },
      { type: 'web_search_tool_result', tool_use_id: 's', content: failed },
    ),
  ])
  expect(items).toEqual([{ type: 'gateway:web_search', status: 'failed', action: { type: 'search', query: 'q', sources: [] } }])
})

it('fallback blocks and tool lists of MCP servers are ignored, too', () => {
  const listing = { type: 'mcp_tool_listing', mcp_server_name: 's', tools: [] }
  const change = { type: 'fallback', from: { model: 'a' }, to: { model: 'b' } }
  const sent = { messages: [{ role: 'user', content: 'Hi' }, assistant(listing, change, text('Ho'))] }
  expect(messagesToResponses(sent).body['input']).toMatchObject([{ content: 'Hi' }, { content: [{ text: 'Ho' }] }])
})

describe('instructions', () => {
  it('lose the first line that an agent writes about itself, which means nothing to a model and differs in every call', () => {
    const line = 'x-anthropic-billing-header: cc_version=2.1.177.01c; cc_entrypoint=cli; cch=36ee5;'
    const items = systemOf([text('a', marked), text('b')]).items
    expect(systemOf([text(line), text('a', marked), text('b')])).toEqual({ items })
    expect(systemOf([text(`${line}\n\na`, marked), text('b')])).toEqual({ items })
    expect(systemOf(`${line}\r\nS`)).toEqual({ instructions: 'S', items: [] })
    expect([systemOf(line), systemOf([text(line)])]).toEqual([{ items: [] }, { items: [] }])
    const spokenOf = `Never write ${line}`
    expect(systemOf(spokenOf)).toEqual({ instructions: spokenOf, items: [] })
  })
  it('are one text, or a message that keeps its cache breakpoints', () => {
    expect(systemOf('S')).toEqual({ instructions: 'S', items: [] })
    expect([systemOf(''), systemOf(null), systemOf([])]).toEqual(Array.from({ length: 3 }, () => ({ items: [] })))
    expect(systemOf([text('a'), text('b', marked)])).toEqual({
      items: [
        {
          type: 'message',
          role: 'system',
          content: [
            { type: 'input_text', text: 'a' },
            { type: 'input_text', text: 'b', ...mark },
          ],
        },
      ],
    })
  })
})
