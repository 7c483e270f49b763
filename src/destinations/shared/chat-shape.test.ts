import { describe, expect, it } from 'vitest'
import type { InputItem, OutputItem } from '../../core/item.ts'
import { messageText, toChatAnswer, toChatMessages, toChatTools } from './chat-shape.ts'
import { toOtelInput, toOtelOutput } from './otel-messages.ts'

const messages = (...input: InputItem[]): unknown => toChatMessages({ input, output: [] })

describe('toChatMessages', () => {
  it('puts instructions first and keeps roles', () => {
    expect(
      toChatMessages({
        instructions: 'Be kind.',
        input: [
          { type: 'message', role: 'developer', content: 'Short.' },
          { type: 'message', role: 'user', content: 'Hi' },
        ],
        output: [],
      }),
    ).toEqual([
      { role: 'system', content: 'Be kind.' },
      { role: 'developer', content: 'Short.' },
      { role: 'user', content: 'Hi' },
    ])
  })

  it('gathers reasoning, text and parallel calls of one turn in one message', () => {
    expect(
      messages(
        { type: 'reasoning', summary: [{ type: 'summary_text', text: 'Hmm' }] },
        { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Looking.' }] },
        { type: 'function_call', call_id: 'a', name: 'f', arguments: '{}' },
        { type: 'custom_tool_call', call_id: 'b', name: 'g', input: 'raw' },
        { type: 'function_call_output', call_id: 'a', output: 'one' },
        { type: 'custom_tool_call_output', call_id: 'b', output: [{ type: 'input_text', text: 'two' }] },
        { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Done.' }] },
      ),
    ).toEqual([
      {
        role: 'assistant',
        content: 'Looking.',
        reasoning: 'Hmm',
        tool_calls: [
          { id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } },
          { id: 'b', type: 'function', function: { name: 'g', arguments: 'raw' } },
        ],
      },
      { role: 'tool', content: 'one', tool_call_id: 'a' },
      { role: 'tool', content: 'two', tool_call_id: 'b' },
      { role: 'assistant', content: 'Done.' },
    ])
  })

  it('shows built-in tools of earlier turns as a call and its result', () => {
    expect(
      messages(
        { type: 'web_search_call', id: 'ws', action: { query: 'q' } },
        { type: 'mcp_call', id: 'm', name: 'read', arguments: '{}', output: 'text' },
      ),
    ).toEqual([
      {
        role: 'assistant',
        content: null,
        tool_calls: [
          { id: 'ws', type: 'function', function: { name: 'web_search_call', arguments: '{"query":"q"}' } },
          { id: 'm', type: 'function', function: { name: 'read', arguments: '{}' } },
        ],
      },
      { role: 'tool', content: 'text', tool_call_id: 'm' },
    ])
  })

  it('shows input and result of built-in tools, whatever fields their items have', () => {
    const operation = { type: 'delete_file', path: 'a.txt' }
    const shown = toChatMessages({
      output: [],
      input: [
        { type: 'code_interpreter_call', id: 'c', code: 'print(6*7)', outputs: [{ type: 'logs', logs: '42' }] },
        { type: 'file_search_call', id: 'f', queries: ['cats'], results: [{ filename: 'cats.md' }] },
        { type: 'apply_patch_call', call_id: 'p', operation },
        { type: 'apply_patch_call_output', call_id: 'p', status: 'completed' },
      ],
    })
    const given = shown.flatMap(({ tool_calls: calls = [] }) =>
      calls.map(({ id, function: { arguments: args } }) => [id, JSON.parse(args) as unknown]),
    )
    expect(given).toEqual([
      ['c', { code: 'print(6*7)' }],
      ['f', { queries: ['cats'] }],
      ['p', operation],
    ])
    expect(shown.filter(({ role }) => role === 'tool').map(({ content }) => content)).toEqual([
      '[{"type":"logs","logs":"42"}]',
      '[{"filename":"cats.md"}]',
      'completed',
    ])
  })

  it('shows results of built-in tools the caller ran, and what it approved', () => {
    const shell = [{ stdout: 'a.txt', stderr: '', outcome: { type: 'exit', exit_code: 0 } }]
    expect(
      messages(
        { type: 'shell_call', call_id: 's', action: { commands: ['ls'] } },
        { type: 'shell_call_output', call_id: 's', output: shell },
        { type: 'local_shell_call_output', id: 'l', output: 'done' },
        { type: 'apply_patch_call_output', call_id: 'p', status: 'failed' },
        { type: 'computer_call_output', call_id: 'c', output: { type: 'computer_screenshot', image_url: '[image/png, 90 bytes]' } },
        { type: 'mcp_approval_request', id: 'r', server_label: 'files', name: 'delete', arguments: '{"path":"/"}' },
        { type: 'mcp_approval_response', approval_request_id: 'r', approve: false, reason: 'No' },
      ),
    ).toEqual([
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 's', type: 'function', function: { name: 'shell_call', arguments: '{"commands":["ls"]}' } }],
      },
      { role: 'tool', content: JSON.stringify(shell), tool_call_id: 's' },
      { role: 'tool', content: 'done', tool_call_id: 'l' },
      { role: 'tool', content: 'failed', tool_call_id: 'p' },
      { role: 'tool', content: '{"type":"computer_screenshot","image_url":"[image/png, 90 bytes]"}', tool_call_id: 'c' },
      {
        role: 'assistant',
        content: null,
        tool_calls: [
          {
            id: 'r',
            type: 'function',
            function: { name: 'mcp_approval_request', arguments: '{"server_label":"files","name":"delete","arguments":"{\\"path\\":\\"/\\"}"}' },
          },
        ],
      },
      { role: 'tool', content: '{"approve":false,"reason":"No"}', tool_call_id: 'r' },
    ])
  })

  it('has texts for ids and names, whatever an unknown item contains there', () => {
    const item = (fields: object): InputItem => ({ type: 'lookup_call', arguments: '{}', output: 'found', ...fields })
    const told = (id: string, name: string): unknown => [
      { role: 'assistant', content: null, tool_calls: [{ id, type: 'function', function: { name, arguments: '{}' } }] },
      { role: 'tool', content: 'found', tool_call_id: id },
    ]
    expect(messages(item({ id: 5, call_id: 7, name: { of: 'x' } }))).toEqual(told('lookup_call', 'lookup_call'))
    expect(messages(item({ id: 'i', call_id: '', name: '' }))).toEqual(told('i', 'lookup_call'))
    expect(messages(item({ id: 'i', call_id: 'c', name: 'look' }))).toEqual(told('c', 'look'))
  })

  it('shows the tools that a search of the caller found as its result', () => {
    const tools = [{ type: 'function', name: 'create_issue' }]
    expect(
      messages(
        { type: 'tool_search_call', execution: 'client', call_id: 's', arguments: { query: 'issues' } },
        { type: 'tool_search_output', execution: 'client', call_id: 's', tools },
      ),
    ).toEqual([
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 's', type: 'function', function: { name: 'tool_search_call', arguments: '{"query":"issues"}' } }],
      },
      { role: 'tool', content: JSON.stringify(tools), tool_call_id: 's' },
    ])
  })

  it('turns every kind of part into text, link or file', () => {
    expect(
      messages({
        type: 'message',
        role: 'user',
        content: [
          { type: 'input_image', image_url: 'https://e.com/a.png' },
          { type: 'input_image', file_id: 'f1' },
          { type: 'input_file', file_data: '[application/pdf, 9 bytes]', filename: 'a.pdf' },
          { type: 'input_file', file_url: 'https://e.com/b.pdf' },
          { type: 'input_audio', input_audio: { data: '[audio/wav, 3 bytes]', format: 'wav' } },
          { type: 'input_video', video_url: 'https://e.com/v.mp4' },
        ],
      }),
    ).toEqual([
      {
        role: 'user',
        content: [
          { type: 'image_url', image_url: { url: 'https://e.com/a.png' } },
          { type: 'text', text: '[image f1]' },
          { type: 'text', text: 'a.pdf [application/pdf, 9 bytes]' },
          { type: 'file', file: { file_url: 'https://e.com/b.pdf' } },
          { type: 'text', text: '[audio/wav, 3 bytes]' },
          { type: 'text', text: 'https://e.com/v.mp4' },
        ],
      },
    ])
  })
})

describe('toChatAnswer', () => {
  it('is one message, whatever items are in between', () => {
    const answer = toChatAnswer({
      input: [],
      output: [
        { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'First.' }] },
        { type: 'gateway:datetime', id: 'd', output: 'now' },
        { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Second.' }] },
        { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' },
      ],
    })
    expect(answer).toEqual({
      role: 'assistant',
      content: 'First.\nSecond.',
      tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }],
    })
  })

  it('holds the calls of built-in tools that wait for the caller, and none that ran', () => {
    const answer = toChatAnswer({
      input: [],
      output: [
        { type: 'shell_call', id: 'sh', call_id: 'a', action: { commands: ['ls'] } },
        { type: 'shell_call_output', id: 'so', call_id: 'a', output: [] },
        { type: 'local_shell_call', id: 'ls', call_id: 'b', action: { type: 'exec', command: ['pwd'] } },
        { type: 'shell_call', id: 'sh2', call_id: 'c', action: { commands: ['id'] } },
        { type: 'tool_search_call', id: 'ts', call_id: 'd', execution: 'client', arguments: { query: 'docs' } },
      ],
    })
    expect(answer.tool_calls?.map(({ id, function: { name } }) => [id, name])).toEqual([
      ['b', 'local_shell_call'],
      ['c', 'shell_call'],
      ['d', 'tool_search_call'],
    ])
  })

  it('holds what waits for the approval of the caller, as the history of the next call does', () => {
    const request = { type: 'mcp_approval_request', id: 'mcpr_1', server_label: 'files', name: 'delete', arguments: '{"path":"/"}' } as const
    const answer = toChatAnswer({ input: [], output: [request] })
    expect(answer.tool_calls).toMatchObject([{ id: 'mcpr_1', function: { name: 'mcp_approval_request' } }])
    expect([answer]).toEqual(toChatMessages({ input: [request], output: [] }))
  })

  it('tells tools of the same name apart by their namespaces', () => {
    const call = (call_id: string, namespace?: string) =>
      ({ type: 'function_call', call_id, name: 'search', arguments: '{}', ...(namespace ? { namespace } : {}) }) as const
    const answer = toChatAnswer({
      input: [],
      output: [call('a', 'mail'), call('b'), { type: 'custom_tool_call', call_id: 'c', name: 'search', namespace: 'files', input: 'x' }],
    })
    expect(answer.tool_calls?.map(({ function: { name } }) => name)).toEqual(['mail__search', 'search', 'files__search'])
  })

  it('is one text however many parts it came in, joined as the public `output_text` is', () => {
    const part = (text: string) => ({ type: 'output_text', text }) as const
    const answer = toChatAnswer({ input: [], output: [{ type: 'message', role: 'assistant', content: [part('A cat '), part('sat.')] }] })
    expect(answer).toEqual({ role: 'assistant', content: 'A cat sat.' })
    const twice = toChatAnswer({
      input: [],
      output: [
        { type: 'message', role: 'assistant', content: [part('One '), part('cat.')] },
        { type: 'message', role: 'assistant', content: [part('Two.')] },
      ],
    })
    expect(twice.content).toBe('One cat.\nTwo.')
  })

  it('names the pictures it holds by their placeholders, a picture alone too', () => {
    const picture = { type: 'image_generation_call', id: 'ig', status: 'completed', result: '[image/png, 750 bytes]' }
    const made = { type: 'gateway:image_generation', id: 'g', status: 'completed', prompt: 'a cat', result: 'https://e.com/cat.png' }
    const answerOf = (...output: OutputItem[]): unknown => toChatAnswer({ input: [], output })
    expect(answerOf(picture)).toEqual({ role: 'assistant', content: '[image/png, 750 bytes]' })
    expect(answerOf({ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Here:' }] }, picture, made)).toEqual({
      role: 'assistant',
      content: 'Here:\n[image/png, 750 bytes]\nhttps://e.com/cat.png',
    })
    expect(answerOf({ ...picture, status: 'failed', result: null }, { ...made, result: '' })).toEqual({ role: 'assistant', content: null })
  })

  it('is empty when nothing was said, and keeps a refusal apart', () => {
    expect(toChatAnswer({ input: [], output: [] })).toEqual({ role: 'assistant', content: null })
    expect(toChatAnswer({ input: [], output: [{ type: 'message', role: 'assistant', content: [{ type: 'refusal', refusal: 'No.' }] }] })).toEqual({
      role: 'assistant',
      content: null,
      refusal: 'No.',
    })
  })
})

describe('the other shapes', () => {
  it('name tools that are no functions by their type', () => {
    expect(toChatTools([{ type: 'gateway:web_search' }, { type: 'function', name: 'f', parameters: { type: 'object' } }])).toEqual([
      { type: 'function', function: { name: 'gateway:web_search' } },
      { type: 'function', function: { name: 'f', parameters: { type: 'object' } } },
    ])
    expect(toChatTools([{ type: 'custom_search', name: '' }])).toEqual([{ type: 'function', function: { name: 'custom_search' } }])
    const search = { type: 'function', name: 'search', description: 'Finds', parameters: { type: 'object' } }
    expect(toChatTools([{ type: 'namespace', name: 'mail', tools: [search, { type: 'custom', name: 'send' }] }])).toEqual([
      { type: 'function', function: { name: 'mail__search', description: 'Finds', parameters: { type: 'object' } } },
      { type: 'function', function: { name: 'mail__send' } },
    ])
  })

  it('write messages as the OpenTelemetry conventions do', () => {
    const content = {
      instructions: 'Be kind.',
      input: [
        { type: 'message', role: 'user', content: 'Hi' },
        { type: 'function_call_output', call_id: 'c', output: 'r' },
      ],
      output: [{ type: 'function_call', call_id: 'd', name: 'f', arguments: '{"a":1}' }],
    } as const
    expect(toOtelInput(content)).toEqual({
      instructions: [{ type: 'text', content: 'Be kind.' }],
      messages: [
        { role: 'user', parts: [{ type: 'text', content: 'Hi' }] },
        { role: 'tool', parts: [{ type: 'tool_call_response', id: 'c', response: 'r', result: 'r' }] },
      ],
    })
    expect(toOtelOutput(content, 'tool_calls')).toEqual([
      { role: 'assistant', parts: [{ type: 'tool_call', id: 'd', name: 'f', arguments: { a: 1 } }], finish_reason: 'tool_calls' },
    ])
    expect(
      messageText({
        role: 'user',
        content: [
          { type: 'text', text: 'a' },
          { type: 'image_url', image_url: { url: 'u' } },
        ],
      }),
    ).toBe('a\nu')
  })
})

describe('tens of thousands of calls in one turn', () => {
  const many = 20_000
  const call = (n: number) => ({ type: 'function_call', id: `fc_${n}`, call_id: `c${n}`, name: 'f', arguments: '{}', status: 'completed' }) as const
  const shell = (n: number): OutputItem => ({ type: 'shell_call', id: `sh_${n}`, call_id: `c${n}`, action: { commands: [] }, status: 'completed' })
  const times = (item: (n: number) => OutputItem): OutputItem[] => Array.from({ length: many }, (_, n) => item(n))

  // Copying a list that grows with each call, or looking through all items for each, takes several times as long on any machine.
  it('are gathered in linear time', () => {
    const began = performance.now()
    expect(toChatMessages({ input: times(call), output: [] })[0]?.tool_calls).toHaveLength(many)
    expect(toChatAnswer({ input: [], output: times(call) }).tool_calls).toHaveLength(many)
    expect(toChatAnswer({ input: [], output: times(shell) }).tool_calls).toHaveLength(many)
    expect(performance.now() - began).toBeLessThan(3_000)
  })
})
