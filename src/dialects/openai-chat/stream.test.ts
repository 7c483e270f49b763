import { describe, expect, it } from 'vitest'
import { GatewayError } from '../../core/error.ts'
import type { ModelEvent } from '../../core/event.ts'
import type { Tool } from '../../core/item.ts'
import { openReasoning } from '../../core/reasoning-envelope.ts'
import type { ModelRequest } from '../../core/request.ts'
import { checkEventBalance, foldEvents } from '../../testing/event-balance.ts'
import { checkWire } from '../../testing/check-wire.ts'
import { wireOf } from '../../testing/wire-of.ts'
import { chatTarget } from './__fixtures__/target.ts'
import type { TargetOverrides } from './__fixtures__/target.ts'
import { toolsOf } from './request.ts'
import { ChatDecoder } from './stream.ts'
import { threadTime } from '../../testing/thread-time.ts'

interface Settings extends TargetOverrides {
  readonly tools?: readonly Tool[]
  readonly request?: Partial<ModelRequest>
  /** False if the connection closes without [DONE]. */
  readonly done?: boolean
}

const decoderFor = (settings: Settings): ChatDecoder =>
  new ChatDecoder({ input: [], ...(settings.tools === undefined ? {} : { tools: settings.tools }), ...settings.request }, chatTarget(settings))

/** Decodes chunks; objects become frames, and strings are sent unchanged. */
function decode(frames: readonly unknown[], settings: Settings = {}): ModelEvent[] {
  const decoder = decoderFor(settings)
  const out: ModelEvent[] = []
  for (const frame of frames) decoder.push(typeof frame === 'string' ? frame : JSON.stringify(frame), undefined, out)
  if (settings.done !== false) decoder.push('[DONE]', undefined, out)
  decoder.end(out)
  checkEventBalance(out)
  return out
}
function decodeBody(message: unknown, settings: Settings = {}, fields: Record<string, unknown> = {}): ModelEvent[] {
  const decoder = decoderFor(settings)
  const out: ModelEvent[] = []
  decoder.body(JSON.stringify({ id: 'x', model: 'm', choices: [{ index: 0, message, finish_reason: 'stop' }], ...fields }), out)
  expect(decoder.finished).toBe(true)
  checkEventBalance(out)
  return out
}
const delta = (fields: unknown, finish_reason: string | null = null): unknown => ({
  id: 'x',
  model: 'm',
  choices: [{ index: 0, delta: fields, finish_reason }],
})
const text = (content: unknown): unknown => delta({ content })
const tools = (...calls: unknown[]): unknown => delta({ tool_calls: calls })
const end = (reason: string | null = 'stop'): unknown => delta({}, reason)
const call = (index: number | undefined, id: string | undefined, name: string | undefined, args: unknown): unknown => ({
  ...(index === undefined ? {} : { index }),
  ...(id === undefined ? {} : { id }),
  function: { ...(name === undefined ? {} : { name }), ...(args === undefined ? {} : { arguments: args }) },
})
const calls = (events: readonly ModelEvent[]): string[] =>
  foldEvents(events).calls.map(({ callId, name, text: args }) => `${callId}:${name}(${args})`)
const types = (events: readonly ModelEvent[]): string => events.map((event) => ('key' in event ? `${event.type}:${event.key}` : event.type)).join(' ')
const last = (events: readonly ModelEvent[]): Extract<ModelEvent, { type: 'response-end' }> =>
  events.at(-1) as Extract<ModelEvent, { type: 'response-end' }>
function failure(run: () => unknown): GatewayError {
  try {
    run()
  } catch (error) {
    if (error instanceof GatewayError) return error
    throw error
  }
  throw new Error('nothing was thrown')
}

describe('text', () => {
  it('streams text into one message', () => {
    const events = decode([delta({ role: 'assistant', content: '' }), text('Hel'), text('lo "you"'), end()])
    expect(events).toEqual([
      { type: 'response-start', upstreamId: 'x', model: 'm' },
      { type: 'item-start', key: 'm0', item: { type: 'message', role: 'assistant', content: [] } },
      { type: 'text-delta', key: 'm0', delta: 'Hel', plain: true },
      { type: 'text-delta', key: 'm0', delta: 'lo "you"' },
      { type: 'item-end', key: 'm0' },
      { type: 'response-end', reason: 'stop', nativeReason: 'stop' },
    ])
  })
  it('gives the same for a whole body', () => {
    expect(types(decodeBody({ role: 'assistant', content: 'Hello' }))).toBe('response-start item-start:m0 text-delta:m0 item-end:m0 response-end')
  })
  it('survives blank lines before a body', () => {
    const out: ModelEvent[] = []
    decoderFor({}).body(`\n\n   ${JSON.stringify({ choices: [{ message: { content: 'a' } }] })}`, out)
    expect(foldEvents(out).text).toBe('a')
  })
  it('reads content parts and the older text form', () => {
    expect(
      foldEvents(
        decode([
          text([
            { type: 'text', text: 'a' },
            { type: 'reference', reference_ids: [1] },
            { type: 'text', text: 'b' },
          ]),
          end(),
        ]),
      ).text,
    ).toBe('ab')
    expect(foldEvents(decode([{ choices: [{ index: 0, text: 'c', finish_reason: 'stop' }] }])).text).toBe('c')
  })
  it('reads delta, not the message repeated beside it', () => {
    expect(
      foldEvents(
        decode([
          { choices: [{ index: 0, delta: { content: 'a' }, message: { content: 'a' } }] },
          { choices: [{ index: 0, delta: { content: 'b' }, message: { content: 'ab' }, finish_reason: 'stop' }] },
        ]),
      ).text,
    ).toBe('ab')
  })
  it('drops whitespace before a tool call, keeps it before text', () => {
    expect(types(decode([text('\n\n'), tools(call(0, 'c', 'f', '{}')), end('tool_calls')]))).not.toContain('m0')
    expect(foldEvents(decode([text('\n'), text('a'), end()])).text).toBe('\na')
    expect(foldEvents(decode([text(' '), end()])).text).toBe(' ')
  })
  it('drops whitespace at the end of the answer', () => {
    const thought = delta({ reasoning_content: 'hm' })
    const picture = delta({ images: [{ image_url: { url: 'data:image/png;base64,AA' } }] })
    const started = (...frames: unknown[]): unknown[] =>
      decode([...frames, end()]).flatMap((event) => (event.type === 'item-start' ? [event.item.type] : []))
    expect(started(text('a'), thought, text('\n'))).toEqual(['message', 'reasoning'])
    expect(started(picture, text('\n'))).toEqual(['image_generation_call'])
    expect(started(thought, text('\n'))).toEqual(['reasoning', 'message'])
  })
  it('ignores chunks without choices and other choices', () => {
    const events = decode([
      { id: '', model: '', choices: [], prompt_filter_results: [] },
      text('a'),
      {
        choices: [
          { index: 0, delta: { content: 'b' } },
          { index: 1, delta: { content: 'z' } },
        ],
      },
      end(),
    ])
    expect(foldEvents(events).text).toBe('ab')
  })
  it('ignores chunks that hold another choice alone', () => {
    const other = (content: string, more: object = {}): unknown => ({ choices: [{ index: 1, delta: { content }, ...more }] })
    const events = decode([text('a'), other('y'), other('', { finish_reason: 'length' }), text('b'), end()])
    expect(foldEvents(events).text).toBe('ab')
    expect(last(events).reason).toBe('stop')
  })
  it('takes the one choice of a server that does not count from zero', () => {
    const chunk = (content: string, more: object = {}): unknown => ({ choices: [{ index: 1, delta: { content }, ...more }] })
    expect(foldEvents(decode([chunk('a'), chunk('b', { finish_reason: 'stop' })])).text).toBe('ab')
  })
  it('takes id and model from the first chunk that names them', () => {
    const filtered = { id: '', model: '', choices: [], prompt_filter_results: [] }
    const events = decode([filtered, { id: 'c1', model: 'small-1-2026', choices: [{ index: 0, delta: { content: 'a' } }] }, end()])
    expect(events[0]).toEqual({ type: 'response-start', upstreamId: 'c1', model: 'small-1-2026' })
  })
  it('streams a refusal as such', () => {
    const events = decode([delta({ refusal: 'I ' }), delta({ refusal: 'cannot' }), end()])
    expect(foldEvents(events).refusal).toBe('I cannot')
    expect(last(events).reason).toBe('refusal')
  })
  it('carries log probabilities', () => {
    const logprobs = { content: [{ token: 'a', logprob: -0.1, bytes: null, top_logprobs: [{ token: 'b', logprob: -2, bytes: [98] }] }] }
    const events = decode([{ choices: [{ index: 0, delta: { content: 'a' }, logprobs }] }, end()])
    expect(events[2]).toMatchObject({
      type: 'text-delta',
      logprobs: [{ token: 'a', logprob: -0.1, bytes: [], top_logprobs: [{ token: 'b', logprob: -2, bytes: [98] }] }],
    })
  })
  it('turns pictures into image items', () => {
    const events = decode([text('see'), delta({ images: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } }] }), end()])
    expect(events).toContainEqual({ type: 'item-start', key: 'i1', item: { type: 'image_generation_call', status: 'completed', result: 'AAAA' } })
  })
  it.each([
    ['data:image/jpeg;base64,/9j/', { result: '/9j/', output_format: 'jpeg' }],
    ['data:image/WebP;base64,UklG', { result: 'UklG', output_format: 'webp' }],
    ['https://a.example/p.jpg', { result: 'https://a.example/p.jpg' }],
  ])('keeps the type of the picture %s', (url, told) => {
    const events = decode([delta({ images: [{ type: 'image_url', image_url: { url } }] }), end()])
    expect(events).toContainEqual({ type: 'item-start', key: 'i0', item: { type: 'image_generation_call', status: 'completed', ...told } })
  })
})

describe('reasoning', () => {
  it.each([
    ['reasoning_content', [delta({ reasoning_content: 'why' })]],
    ['reasoning', [delta({ reasoning: 'why' })]],
    ['both spellings at once', [delta({ reasoning: 'why', reasoning_content: 'why' })]],
    ['content parts', [text([{ type: 'thinking', thinking: [{ type: 'text', text: 'why' }] }])]],
    ['content parts as text', [text([{ type: 'thinking', thinking: 'why' }])]],
    ['details beside the plain spelling', [delta({ reasoning: 'why', reasoning_details: [{ type: 'reasoning.text', text: 'why', index: 0 }] })]],
    ['tags', [text('<think>'), text('\nwhy\n</thi'), text('nk>\n')]],
  ])('%s', (_name, frames) => {
    const events = decode([...frames, text('answer'), end()])
    expect(foldEvents(events)).toMatchObject({ reasoning: 'why', text: 'answer' })
    expect(types(events)).toMatch(
      /^response-start item-start:r0 (reasoning-delta:r0 )+item-end:r0 item-start:m1 (text-delta:m1 )+item-end:m1 response-end$/,
    )
  })
  it('opens a new item at every switch', () => {
    const events = decode([
      delta({ reasoning_content: 'a' }),
      text('b'),
      delta({ reasoning_content: 'c' }),
      tools(call(0, 'x', 'f', '{}')),
      end('tool_calls'),
    ])
    expect(types(events)).toBe(
      'response-start item-start:r0 reasoning-delta:r0 item-end:r0 item-start:m1 text-delta:m1 item-end:m1 item-start:r2 reasoning-delta:r2 item-end:r2 item-start:c3 arguments-delta:c3 item-end:c3 response-end',
    )
  })
  it('leaves tags alone where the server is declared not to use them', () => {
    expect(foldEvents(decode([text('<think>a</think>b'), end()], { options: { think_tags: 'none' } })).text).toBe('<think>a</think>b')
  })
  it('seals text for servers that want it back', () => {
    const events = decode([delta({ reasoning_content: 'because' }), tools(call(0, 'x', 'f', '{}')), end()], {
      options: { reasoning_replay: 'reasoning_content' },
      scope: 'acme',
    })
    const sealed = events.find((event) => event.type === 'item-end')?.item?.['encrypted_content']
    expect(openReasoning(sealed as string)).toEqual({ format: 'unknown', scope: 'acme', text: 'because' })
  })
  it('encrypts reasoning text for callers who ask for the encrypted field, even if only another server may need it', () => {
    const sealedBy = (request: Partial<ModelRequest>): string | undefined => {
      const events = decode([delta({ reasoning_content: 'because' }), text('a'), end()], { scope: 'acme', request })
      return events.flatMap((event) => (event.type === 'item-end' ? [event.item?.['encrypted_content'] as string | undefined] : []))[0]
    }
    expect(openReasoning(sealedBy({ include: ['reasoning.encrypted_content'] }))).toEqual({ format: 'unknown', scope: 'acme', text: 'because' })
    expect(sealedBy({})).toBeUndefined()
  })
  it('keeps details with their signature, pieces joined, as the server wrote them', () => {
    const detail = (fields: object): unknown => delta({ reasoning_details: [{ type: 'reasoning.text', index: 0, format: 'f-v1', ...fields }] })
    const events = decode([detail({ text: 'be' }), detail({ text: 'cause' }), detail({ signature: 'sig' }), text('a'), end()], {
      options: { reasoning_replay: 'reasoning_details' },
    })
    const ended = events.find((event) => event.type === 'item-end')?.item
    expect(ended).toMatchObject({ signature: 'sig', format: 'unknown' })
    expect(JSON.parse(openReasoning(ended?.['encrypted_content'] as string)!.data!)).toEqual([
      { type: 'reasoning.text', index: 0, format: 'f-v1', text: 'because', signature: 'sig' },
    ])
    expect(foldEvents(events).reasoning).toBe('because')
  })
  it('shows summaries as summaries, and an opaque blob without text as an item', () => {
    const events = decode([
      delta({ reasoning_details: [{ type: 'reasoning.summary', summary: 's', index: 0 }] }),
      delta({ reasoning_details: [{ type: 'reasoning.encrypted', data: 'blob', index: 1 }] }),
      text('a'),
      end(),
    ])
    expect(events[2]).toMatchObject({ type: 'reasoning-delta', kind: 'summary', delta: 's' })
    const alone = decode([delta({ reasoning_details: [{ type: 'reasoning.encrypted', data: 'blob' }] }), text('a'), end()])
    expect(types(alone)).toMatch(/^response-start item-start:r0 item-end:r0 item-start:m1/)
    expect(alone[2]).toMatchObject({ item: { encrypted_content: expect.stringMatching(/^sb1\./) } })
  })
  it('carries the signature of a call as a reasoning item before it', () => {
    const signed = { ...(call(0, 'c', 'f', '{}') as object), extra: { signature: 'sig' } }
    const events = decode([tools(signed), end()], { options: { tool_signature_path: ['extra', 'signature'], reasoning_format: 'f-v1' }, scope: 's' })
    expect(types(events)).toBe('response-start item-start:r0 item-end:r0 item-start:c1 arguments-delta:c1 item-end:c1 response-end')
    expect(openReasoning(events.flatMap((event) => (event.type === 'item-end' ? [event.item?.['encrypted_content']] : []))[0] as string)).toEqual({
      format: 'f-v1',
      scope: 's',
      signature: 'sig',
    })
  })
})

describe('tool calls', () => {
  it.each<[string, unknown[], string[]]>([
    [
      'one call in pieces',
      [tools(call(0, 'a', 'f', '')), tools(call(0, undefined, undefined, '{"x"')), tools(call(0, undefined, undefined, ':1}'))],
      ['a:f({"x":1})'],
    ],
    ['complete in the first chunk', [tools(call(0, 'a', 'f', '{}'))], ['a:f({})']],
    ['the word null for no arguments', [tools(call(0, 'a', 'f', 'null'))], ['a:f({})']],
    ['a blank for no arguments', [tools(call(0, 'a', 'f', '')), tools(call(0, undefined, undefined, ' '))], ['a:f({})']],
    ['null until there are some', [tools(call(0, 'a', 'f', 'null')), tools(call(0, undefined, undefined, '{"x":1}'))], ['a:f({"x":1})']],
    ['two in one chunk', [tools(call(0, 'a', 'f', '{}'), call(1, 'b', 'g', '{"y":2}'))], ['a:f({})', 'b:g({"y":2})']],
    [
      'interleaved deltas',
      [
        tools(call(0, 'a', 'f', '{')),
        tools(call(1, 'b', 'g', '{')),
        tools(call(0, undefined, undefined, '"x":1}')),
        tools(call(1, undefined, undefined, '}')),
      ],
      ['a:f({"x":1})', 'b:g({})'],
    ],
    ['the first index is 1', [tools(call(1, 'a', 'f', '')), tools(call(1, undefined, undefined, '{}'))], ['a:f({})']],
    [
      'index missing, ids present',
      [tools(call(undefined, 'a', 'f', '{')), tools(call(undefined, undefined, undefined, '}')), tools(call(undefined, 'b', 'g', '{}'))],
      ['a:f({})', 'b:g({})'],
    ],
    ['index always 0, new ids', [tools(call(0, 'a', 'f', '{}')), tools(call(0, 'b', 'f', '{}'))], ['a:f({})', 'b:f({})']],
    ['index always 0, no ids, new names', [tools(call(0, undefined, 'f', '{}')), tools(call(0, undefined, 'g', '{}'))], [':f({})', ':g({})']],
    [
      'index always 0, no ids, same name',
      [tools(call(0, undefined, 'f', '{"x":1}')), tools(call(0, undefined, 'f', '{"x":2}'))],
      [':f({"x":1})', ':f({"x":2})'],
    ],
    ['neither index nor ids', [tools(call(undefined, '', 'f', '{}'), call(undefined, '', 'f', '{}'))], [':f({})', ':f({})']],
    ['repeated id and name', [tools(call(0, 'a', 'f', '{"x"')), tools(call(0, 'a', 'f', ':1')), tools(call(0, 'a', 'f', '}'))], ['a:f({"x":1})']],
    ['a whole call told again', [tools(call(0, 'a', 'f', '{"x":1}')), tools(call(0, 'a', 'f', '{"x":1}'))], ['a:f({"x":1})']],
    [
      'an object inside told in a piece of its own',
      [tools(call(0, 'a', 'f', '{"x":')), tools(call(0, 'a', 'f', '{"y":1}')), tools(call(0, 'a', 'f', '}'))],
      ['a:f({"x":{"y":1}})'],
    ],
    ['an id that changes in every piece', [tools(call(0, 'a', 'f', '{"x"')), tools(call(0, 'b', undefined, ':1}'))], ['a:f({"x":1})']],
    ['name before id', [tools(call(0, undefined, 'f', '')), tools(call(0, 'a', undefined, '{}'))], ['a:f({})']],
    ['arguments before the name', [tools(call(0, 'a', undefined, '{"x"')), tools(call(0, undefined, 'f', ':1}'))], ['a:f({"x":1})']],
    ['an object instead of text', [tools(call(0, 'a', 'f', { x: [1, null] }))], ['a:f({"x":[1,null]})']],
    [
      'an empty object in place of arguments that are to come',
      [tools(call(0, 'a', 'f', '{}')), tools(call(0, undefined, undefined, '{"x"')), tools(call(0, undefined, undefined, ':1}'))],
      ['a:f({"x":1})'],
    ],
    ['an empty object in its place, id and name repeated', [tools(call(0, 'a', 'f', {})), tools(call(0, 'a', 'f', '{"x":1}'))], ['a:f({"x":1})']],
    ['empty arguments', [tools(call(0, 'a', 'f', ''))], ['a:f({})']],
    ['null arguments', [tools(call(0, 'a', 'f', null))], ['a:f({})']],
    ['no arguments at all', [tools(call(0, 'a', 'f', undefined))], ['a:f({})']],
    ['an empty piece is no call', [tools(call(0, 'a', 'f', '{}')), tools({ index: 1 })], ['a:f({})']],
    [
      'the form before tools had a list',
      [delta({ function_call: { name: 'f', arguments: '{"x"' } }), delta({ function_call: { arguments: ':1}' } })],
      [':f({"x":1})'],
    ],
  ])('%s', (_name, frames, expected) => {
    const events = decode([...frames, end('tool_calls')])
    expect(calls(events)).toEqual(expected)
    expect(last(events).reason).toBe('tool_calls')
  })
  it('reads every entry of a whole body as a call of its own', () => {
    const events = decodeBody({ content: null, tool_calls: [call(0, 'a', 'f', '{}'), call(0, 'a', 'f', '{}')] })
    expect(calls(events)).toEqual(['a:f({})', 'a:f({})'])
  })
  it('forwards arguments as they were written', () => {
    const args = '{ "n": 1.0, "big": 12345678901234567890, "b" : 2 , "a":1}'
    expect(calls(decode([tools(call(0, 'a', 'f', args)), end()]))).toEqual([`a:f(${args})`])
  })
  it('takes 100 kB of arguments in one piece', () => {
    const args = JSON.stringify({ x: 'é'.repeat(100_000) })
    expect(calls(decode([tools(call(0, 'a', 'f', args)), end()]))[0]).toBe(`a:f(${args})`)
  })
  it('ends a complete call when the next begins, so that both stream', () => {
    const events = decode([tools(call(0, 'a', 'f', '{}')), tools(call(1, 'b', 'g', '{}')), end()])
    expect(types(events)).toBe(
      'response-start item-start:c0 arguments-delta:c0 item-end:c0 item-start:c1 arguments-delta:c1 item-end:c1 response-end',
    )
  })
  it('puts text after a call into a new message', () => {
    const events = decode([text('a'), tools(call(0, 'x', 'f', '{}')), text('b'), end()])
    expect(types(events)).toContain('item-end:c1 item-start:m2 text-delta:m2')
  })
  it('marks a call cut off by the limit, and does not repair it', () => {
    const events = decode([tools(call(0, 'a', 'f', '{"x":')), end('length')])
    expect(calls(events)).toEqual(['a:f({"x":)'])
    expect(events.find((event) => event.type === 'item-end')).toMatchObject({ item: { status: 'incomplete' } })
    expect(last(events).reason).toBe('length')
  })
  it.each(['stop', 'tool_calls', null])('marks a call whose arguments break off, whatever ended the answer (%s)', (reason) => {
    const events = decode([tools(call(0, 'a', 'f', '{"x":[1')), tools(call(1, 'b', 'f', '{}')), end(reason)])
    const { output, terminal } = checkWire(wireOf(events))
    expect(output).toMatchObject([
      { arguments: '{"x":[1', status: 'incomplete' },
      { arguments: '{}', status: 'completed' },
    ])
    expect(terminal.type).toBe('response.completed')
  })
  it.each(['', '{}', 'nonsense', "{'x': 1}", '{"x":1}}'])('leaves arguments that were ended as they are: %s', (args) => {
    expect(checkWire(wireOf(decode([tools(call(0, 'a', 'f', args)), end()]))).output).toMatchObject([{ status: 'completed' }])
  })
  it('fails on a call that never gets a name', () => {
    expect(failure(() => decode([tools(call(0, 'a', undefined, '{}')), end()])).errorType).toBe('provider_unavailable')
  })

  const patch: Tool = { type: 'custom', name: 'apply.patch' }
  it('marks a call of a free-form tool whose input breaks off, too', () => {
    const name = toolsOf({ tools: [patch] }, chatTarget().options).tools[0]!.name
    const output = (args: string): unknown =>
      checkWire(wireOf(decode([tools(call(0, 'a', name, args)), end('tool_calls')], { tools: [patch] }))).output
    expect(output('{"input":"*** Begin Patch\\n-a')).toMatchObject([{ input: '*** Begin Patch\n-a', status: 'incomplete' }])
    expect(output('*** Begin Patch {')).toMatchObject([{ input: '*** Begin Patch {', status: 'completed' }])
  })
  it('turns calls of free-form tools back, streaming their input', () => {
    const name = toolsOf({ tools: [patch] }, chatTarget().options).tools[0]!.name
    expect(name).toMatch(/^apply_patch_\w{8}$/)
    const events = decode([tools(call(0, 'a', name, '{"input":"*** Be')), tools(call(0, undefined, undefined, 'gin\\n"}')), end()], {
      tools: [patch],
    })
    expect(foldEvents(events).calls).toEqual([{ type: 'custom_tool_call', callId: 'a', name: 'apply.patch', text: '*** Begin\n' }])
    expect(events.filter((event) => event.type === 'arguments-delta')).toHaveLength(2)
  })
  it('leads names back to namespaces', () => {
    const events = decode([tools(call(0, 'a', 'git__log', '{}')), end()], {
      tools: [{ type: 'namespace', name: 'git', tools: [{ type: 'function', name: 'log' }] }],
    })
    expect(events[1]).toMatchObject({ item: { type: 'function_call', name: 'log', namespace: 'git' } })
  })
  it('makes the arguments of the answer tool the text', () => {
    const events = decode([tools(call(0, 'a', 'structured_answer', '{"x"')), tools(call(0, undefined, undefined, ':1}')), end('tool_calls')], {
      options: { json_schema: 'tool' },
      request: { text: { format: { type: 'json_schema', name: 'n', schema: {} } } },
    })
    expect(foldEvents(events)).toMatchObject({ text: '{"x":1}', calls: [] })
    expect(last(events).reason).toBe('stop')
  })
})

describe('a hidden answer tool', () => {
  const settings: Settings = {
    options: { json_schema: 'tool' },
    tools: [{ type: 'function', name: 'f' }],
    request: { text: { format: { type: 'json_schema', name: 'n', schema: {} } } },
  }
  const said = (...frames: unknown[]): string => foldEvents(decode([...frames, end('tool_calls')], settings)).text
  const answer = (args: string, index = 0): unknown => tools(call(index, `c${index}`, 'structured_answer', args))
  it('suppresses text beside it, and another call of it', () => {
    expect(said(text('Sure: '), answer('{"x":1}'))).toBe('{"x":1}')
    expect(said(answer('{"x":1}'), text('There you are.'))).toBe('{"x":1}')
    expect(said(answer('{"x":1}'), answer('{"x":2}', 1))).toBe('{"x":1}')
  })
  it('leaves text that is the answer itself, as it comes', () => {
    expect(said(text(' {"x"'), text(':2}'), answer('{"x":2}'))).toBe(' {"x":2}')
    const events: ModelEvent[] = []
    decoderFor(settings).push(JSON.stringify(text('{"x"')), undefined, events)
    expect(events).toContainEqual(expect.objectContaining({ type: 'text-delta', delta: '{"x"' }))
  })
  it('leaves text that no call of it follows', () => {
    expect(said(text('I cannot.'))).toBe('I cannot.')
    expect(foldEvents(decode([text('Let me look'), tools(call(0, 'c', 'f', '{}')), end('tool_calls')], settings))).toMatchObject({
      text: 'Let me look',
      calls: [{ name: 'f' }],
    })
  })
})

describe('annotations', () => {
  it('flattens nested citations and keeps their offsets', () => {
    const events = decode([
      text('abc'),
      delta({ annotations: [{ type: 'url_citation', url_citation: { url: 'http://u', title: 't', start_index: 1, end_index: 2, content: 'c' } }] }),
      end(),
    ])
    expect(events[3]).toEqual({
      type: 'annotation',
      key: 'm0',
      annotation: { type: 'url_citation', url: 'http://u', title: 't', start_index: 1, end_index: 2, content: 'c' },
    })
  })
  it('keeps citations that come together with pictures', () => {
    const images = [{ type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } }]
    const annotations = [{ type: 'url_citation', url_citation: { url: 'http://u', title: 't', start_index: 1, end_index: 2 } }]
    const order = 'response-start item-start:m0 text-delta:m0 annotation:m0 item-end:m0 item-start:i1 item-end:i1 response-end'
    expect(types(decode([text('abc'), delta({ images, annotations }), end()]))).toBe(order)
    expect(types(decodeBody({ content: 'abc', images, annotations }))).toBe(order)
  })
  const search: Settings = { options: { web_search: 'options' }, tools: [{ type: 'web_search' }, { type: 'function', name: 'f' }] }
  const cite = delta({ annotations: [{ type: 'url_citation', url: 'http://u', start_index: 0, end_index: 2 }] })
  it.each([
    ['a call', tools(call(0, 'c', 'f', '{}')), 'item-start:c1'],
    ['a picture', delta({ images: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } }] }), 'item-start:i1 item-end:i1'],
    ['a refusal', delta({ refusal: 'no' }), 'item-start:m1 refusal-delta:m1'],
  ])('gives the text of a search the citations that come behind %s', (_what, other, written) => {
    const events = decode([text('abc'), other, cite, end()], search)
    expect(types(events)).toContain(`text-delta:m0 ${written.split(' item-end')[0]!}`)
    expect(events.filter(({ type }) => type === 'annotation')).toMatchObject([{ key: 'm0', annotation: { start_index: 0, end_index: 2 } }])
    const body = wireOf(events)
    expect(checkWire(body).output[0]).toMatchObject({ type: 'message', content: [{ text: 'abc', annotations: [{ url: 'http://u' }] }] })
    expect(checkWire(body).output).toHaveLength(2)
  })
  it('ends the message of a search when other text comes, and cites that', () => {
    const events = decode([text('abc'), tools(call(0, 'c', 'f', '{}')), text('de'), cite, end()], search)
    expect(events.filter(({ type }) => type === 'annotation')).toMatchObject([{ key: 'm2' }])
    expect(checkWire(wireOf(events)).output.map(({ type }) => type)).toEqual(['message', 'function_call', 'message'])
  })
  it('cites sources named beside the text although a call follows it', () => {
    const frame = { citations: ['http://a'], choices: [{ index: 0, delta: { content: 'ab' }, finish_reason: null }] }
    const events = decode([frame, tools(call(0, 'c', 'f', '{}')), end()])
    expect(events.filter(({ type }) => type === 'annotation')).toMatchObject([{ key: 'm0', annotation: { start_index: 2 } }])
  })
  it('makes no empty text for a citation behind a refusal', () => {
    const { output } = checkWire(wireOf(decode([text('abc'), delta({ refusal: 'no' }), cite, end()])))
    expect(output[0]).toMatchObject({ content: [{ text: 'abc' }, { refusal: 'no' }] })
  })
  it('ends the text before a call at once where nobody searches', () => {
    expect(types(decode([text('abc'), tools(call(0, 'c', 'f', '{}')), end()]))).toContain('item-end:m0 item-start:c1')
  })
  it('holds citations that come before the text', () => {
    const events = decode([delta({ annotations: [{ type: 'url_citation', url: 'http://u' }] }), text('abc'), end()])
    expect(types(events)).toBe('response-start item-start:m0 text-delta:m0 annotation:m0 item-end:m0 response-end')
  })
  it('cites sources listed beside the text once, at its end', () => {
    const frame = (content: string, finish: string | null): unknown => ({
      citations: ['http://a', 'http://b'],
      search_results: [{ url: 'http://b', title: 'B' }],
      choices: [{ index: 0, delta: { content }, finish_reason: finish }],
    })
    const events = decode([frame('ab', null), frame('c', 'stop')], { done: false })
    expect(events.filter((event) => event.type === 'annotation').map((event) => event.annotation)).toEqual([
      { type: 'url_citation', url: 'http://a', title: 'http://a', start_index: 3, end_index: 3 },
      { type: 'url_citation', url: 'http://b', title: 'B', start_index: 3, end_index: 3 },
    ])
  })
})

describe('usage', () => {
  const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 }
  const of = (events: readonly ModelEvent[]): unknown => {
    const { raw: _raw, ...rest } = last(events).usage ?? { raw: 0 }
    return rest
  }
  const plain = { inputTokens: 10, cachedTokens: 0, cacheWriteTokens: 0, outputTokens: 5, reasoningTokens: 0, totalTokens: 15 }
  it('is what was counted by then, while the answer goes on', () => {
    const decoder = decoderFor({})
    decoder.push(JSON.stringify(text('a')), undefined, [])
    expect(decoder.counted).toBeUndefined()
    decoder.push(JSON.stringify({ choices: [{ index: 0, delta: { content: 'b' } }], usage }), undefined, [])
    expect(decoder.counted).toMatchObject(plain)
  })
  it.each<[string, unknown[]]>([
    ['in a chunk of its own', [text('a'), end(), { choices: [], usage }]],
    ['in the last content chunk', [text('a'), { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], usage }]],
    [
      'in every chunk, cumulative',
      [
        { choices: [{ index: 0, delta: { content: 'a' } }], usage: { prompt_tokens: 10, completion_tokens: 1 } },
        { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], usage },
      ],
    ],
    ['in a field of the vendor', [text('a'), { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], x_groq: { usage } }]],
    ['inside the choice', [text('a'), { choices: [{ index: 0, delta: {}, finish_reason: 'stop', usage }] }]],
  ])('%s', (_name, frames) => {
    expect(of(decode(frames))).toEqual(plain)
  })
  it.each<[string, object, object, TargetOverrides]>([
    [
      'cache reads in details',
      { ...usage, prompt_tokens_details: { cached_tokens: 4, cache_write_tokens: 3 } },
      { ...plain, cachedTokens: 4, cacheWriteTokens: 3 },
      {},
    ],
    ['cache reads on top', { ...usage, cached_tokens: 4 }, { ...plain, cachedTokens: 4 }, {}],
    ['cache hits', { ...usage, prompt_cache_hit_tokens: 4 }, { ...plain, cachedTokens: 4 }, {}],
    ['reasoning inside output', { ...usage, completion_tokens_details: { reasoning_tokens: 2 } }, { ...plain, reasoningTokens: 2 }, {}],
    [
      'reasoning beside output, by the total',
      { prompt_tokens: 10, completion_tokens: 5, total_tokens: 35, completion_tokens_details: { reasoning_tokens: 20 } },
      { ...plain, outputTokens: 25, reasoningTokens: 20, totalTokens: 35 },
      {},
    ],
    [
      'reasoning beside output, declared',
      { prompt_tokens: 10, completion_tokens: 5, completion_tokens_details: { reasoning_tokens: 20 } },
      { ...plain, outputTokens: 25, reasoningTokens: 20, totalTokens: 35 },
      { options: { usage: { output_excludes_reasoning: true } } },
    ],
    ['input from total', { prompt_tokens: 2, completion_tokens: 5, total_tokens: 15 }, plain, { options: { usage: { input_from_total: true } } }],
    ['output from total', { prompt_tokens: 10, completion_tokens: 1, total_tokens: 15 }, plain, { options: { usage: { output_from_total: true } } }],
    ['cost', { ...usage, cost: 0.5 }, { ...plain, reportedCost: 0.5 }, {}],
    [
      "cost on the caller's own key",
      { ...usage, cost: 0.05, is_byok: true, cost_details: { upstream_inference_cost: 0.5 } },
      { ...plain, reportedCost: 0.55 },
      {},
    ],
    ['cost in ticks', { ...usage, cost_in_usd_ticks: 5_000_000_000 }, { ...plain, reportedCost: 0.5 }, {}],
    ['an unmetered account', { ...usage, cost_in_usd_ticks: 0 }, plain, {}],
    ['searches', { ...usage, server_tool_use: { web_search_requests: 2 } }, { ...plain, serverToolUse: { web_search: 2 } }, {}],
  ])('%s', (_name, raw, expected, settings) => {
    expect(of(decode([text('a'), end(), { choices: [], usage: raw }], settings))).toEqual(expected)
  })
  it('says which tier served', () => {
    const served = (frame: unknown, service_tier: string): object => ({ ...(frame as object), service_tier })
    const inFrames = decode([served(text('a'), 'auto'), served(end(), 'flex')])
    const inUsage = decode([text('a'), end(), { choices: [], usage: { ...usage, service_tier: 'priority' } }])
    expect([inFrames[0], last(inFrames), last(inUsage)]).toMatchObject(['auto', 'flex', 'priority'].map((serviceTier) => ({ serviceTier })))
  })
  it('says which tier served, in the contract’s word where the server has one of its own', () => {
    const options: Settings['options'] = { tier_names: { default: 'on_demand', priority: 'performance' } }
    const tierOf = (word: string) => last(decode([{ ...(text('a') as object), service_tier: word }, end()], { options })).serviceTier
    expect(['on_demand', 'performance', 'flex', 'standard'].map(tierOf)).toEqual(['default', 'priority', 'flex', 'default'])
  })
  it('is absent when the server says nothing', () => {
    expect(last(decode([text('a'), end()])).usage).toBeUndefined()
  })
})

describe('a name that is repeated with every piece', () => {
  it('does not scan all arguments each time', () => {
    const args = JSON.stringify({ patch: 'x'.repeat(300_000) })
    const decoder = decoderFor({ tools: [{ type: 'function', name: 'f' }] })
    const out: ModelEvent[] = []
    const started = threadTime()
    for (let at = 0; at < args.length; at += 10) {
      decoder.push(JSON.stringify(tools(call(0, at === 0 ? 'c' : undefined, 'f', args.slice(at, at + 10)))), undefined, out)
    }
    expect(threadTime() - started).toBeLessThan(5_000)
    decoder.push('[DONE]', undefined, out)
    expect(calls(out)).toEqual([`c:f(${args})`])
  })
})

describe('an answer of many calls', () => {
  const entries = (count: number, args: string): unknown[] => Array.from({ length: count }, (_, n) => call(n, `c${n}`, 'f', args))
  it.each([
    ['whole', '{}', 40_000],
    ['not whole yet', '{', 40_000],
  ])('costs what it holds: %s', (_name, args, count) => {
    const decoder = decoderFor({ tools: [{ type: 'function', name: 'f' }] })
    const out: ModelEvent[] = []
    const started = threadTime()
    decoder.push(JSON.stringify(tools(...entries(count, args))), undefined, out)
    decoder.push('[DONE]', undefined, out)
    expect(threadTime() - started).toBeLessThan(1_500)
    expect(calls(out)).toHaveLength(count)
  })
  it('takes lists longer than arguments of a function may be', () => {
    const decoder = decoderFor({})
    const out: ModelEvent[] = []
    const annotations = Array.from({ length: 150_000 }, (_, n) => ({ type: 'url_citation', url: `https://a.test/${n}` }))
    decoder.push(JSON.stringify(delta({ content: 'x', annotations })), undefined, out)
    decoder.push('[DONE]', undefined, out)
    expect(out.filter(({ type }) => type === 'annotation')).toHaveLength(annotations.length)
  })
  it('reads long incomplete arguments once, whatever comes meanwhile', () => {
    const decoder = decoderFor({ tools: [{ type: 'function', name: 'f' }] })
    const out: ModelEvent[] = []
    const started = threadTime()
    decoder.push(JSON.stringify(tools(call(0, 'c', 'f', `{"a":"${'x'.repeat(2_000_000)}`))), undefined, out)
    for (let n = 0; n < 3_000; n++) {
      decoder.push(JSON.stringify(tools(call(0, undefined, undefined, '}'))), undefined, out)
      decoder.push(JSON.stringify(tools(call(n + 1, `c${n + 1}`, 'f', '{}'))), undefined, out)
    }
    expect(threadTime() - started).toBeLessThan(1_500)
  })
})

describe('a complete message in the last frame', () => {
  const whole = { id: 'x', choices: [{ index: 0, message: { role: 'assistant', content: 'hello' }, finish_reason: 'stop' }] }
  it('is not repeated', () => {
    expect(foldEvents(decode([text('hel'), text('lo'), whole])).text).toBe('hello')
  })
  it('is the answer when nothing was streamed', () => {
    expect(foldEvents(decode([delta({ role: 'assistant', content: '' }), whole])).text).toBe('hello')
  })
})

describe('a usage report that counts nothing', () => {
  const counted = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 }
  it.each([{}, { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 }])('%j never replaces one that does', (usage) => {
    const frames = [text('hi'), { ...(end() as object), usage: counted }, { id: 'x', choices: [], usage }]
    expect(last(decode(frames)).usage).toMatchObject({ inputTokens: 10, outputTokens: 5 })
  })
  it('is none, so that an estimate is made', () => {
    expect(last(decode([text('hi'), end(), { id: 'x', choices: [], usage: {} }])).usage).toBeUndefined()
    expect(last(decodeBody({ content: 'hi' }, {}, { usage: { prompt_tokens: 0, completion_tokens: 0 } })).usage).toBeUndefined()
  })
})

describe('the end', () => {
  it.each([
    ['stop', 'length', 'length'],
    ['tool_calls', 'content_filter', 'content_filter'],
    ['length', 'stop', 'length'],
    ['stop', 'tool_calls', 'stop'],
    ['stop', 'error', 'stop'],
  ])('given twice (%s, %s) is the one that cut the answer off, else the first', (first, second, native) => {
    expect(last(decode([delta({ content: 'a' }, first), delta({ content: 'b' }, second)])).nativeReason).toBe(native)
  })
  it('is not undone by a broken connection once the usage has arrived', () => {
    const decoder = decoderFor({})
    decoder.push(JSON.stringify({ ...(text('hi') as object), usage: { prompt_tokens: 1, completion_tokens: 1 } }), undefined, [])
    expect([decoder.settled, decoder.entire]).toEqual([false, false])
    decoder.push(JSON.stringify(end()), undefined, [])
    expect([decoder.settled, decoder.entire]).toEqual([true, true])
  })

  it.each([
    ['stop', 'stop'],
    ['eos', 'stop'],
    ['tool_calls', 'stop'],
    ['length', 'length'],
    ['model_length', 'length'],
    ['max_tokens', 'length'],
    ['content_filter', 'content_filter'],
    ['sensitive', 'content_filter'],
    ['refusal', 'content_filter'],
    ['some_new_word', 'stop'],
  ])('finish reason %s of a text is %s', (native, reason) => {
    expect(last(decode([text('a'), end(native)]))).toMatchObject({ reason, nativeReason: native })
  })
  it.each([
    ['error', 'provider_unavailable'],
    ['insufficient_system_resource', 'provider_overloaded'],
  ])('finish reason %s is a failure', (native, type) => {
    expect(failure(() => decode([text('a'), end(native)])).errorType).toBe(type)
  })
  it('keeps a refusal that is told in words', () => {
    for (const native of ['refusal', 'stop']) expect(last(decode([delta({ refusal: 'No.' }), end(native)])).reason).toBe('refusal')
  })
  it('takes declared finish reasons', () => {
    expect(last(decode([text('a'), end('zu_lang')], { options: { finish_reasons: { zu_lang: 'length' } } })).reason).toBe('length')
  })
  it('keeps the first reason', () => {
    expect(last(decode([text('a'), end('length'), end('stop')])).reason).toBe('length')
  })
  it('marks what was cut off', () => {
    expect(decode([text('a'), end('length')])).toContainEqual({ type: 'item-end', key: 'm0', item: { status: 'incomplete' } })
  })
  it('is decided by the calls, not by the finish reason', () => {
    expect(last(decode([tools(call(0, 'a', 'f', '{}')), end('stop')])).reason).toBe('tool_calls')
    expect(last(decode([tools(call(0, 'a', 'f', '{}')), end('')])).reason).toBe('tool_calls')
  })
  it('accepts [DONE] without a reason, and a close after a reason', () => {
    expect(last(decode([text('a')])).reason).toBe('stop')
    expect(last(decode([text('a'), end()], { done: false })).reason).toBe('stop')
  })
  it('calls a close without a reason broken off, unless declared', () => {
    expect(failure(() => decode([text('a')], { done: false }))).toMatchObject({
      errorType: 'provider_unavailable',
      details: { source: 'provider', providerName: 'Acme' },
    })
    expect(last(decode([text('a')], { done: false, options: { close_ends_answer: true } })).reason).toBe('stop')
  })
  it.each<[string, unknown[], boolean]>([
    ['nothing at all', [], false],
    ['only [DONE]', [], true],
    ['an empty answer', [delta({ role: 'assistant', content: '' }), end()], true],
    ['usage alone', [{ choices: [], usage: { prompt_tokens: 1 } }], true],
  ])('calls %s a failure', (_name, frames, done) => {
    expect(failure(() => decode(frames, { done })).errorType).toBe('provider_unavailable')
  })
  it('allows an empty answer at the limit, behind a filter, and where declared', () => {
    expect(last(decode([end('length')])).reason).toBe('length')
    expect(last(decode([end('content_filter')])).reason).toBe('content_filter')
    expect(last(decode([end()], { options: { allow_empty_answer: true } })).reason).toBe('stop')
  })
  it('ignores what comes after the end', () => {
    const decoder = decoderFor({})
    const out: ModelEvent[] = []
    for (const data of [JSON.stringify(text('a')), '[DONE]', JSON.stringify(text('b')), '[DONE]']) decoder.push(data, undefined, out)
    expect(decoder.finished).toBe(true)
    expect(foldEvents(out).text).toBe('a')
    checkEventBalance(out)
  })
})

describe('failures inside an answer', () => {
  it.each<[string, unknown, string]>([
    ['an error chunk', { error: { message: 'Overloaded', code: 503 }, choices: [{ index: 0, delta: {} }] }, 'provider_overloaded'],
    ['an error object', { object: 'error', message: 'boom', code: 500 }, 'provider_unavailable'],
    ['an error as text', { error: 'rate limit exceeded' }, 'rate_limit_exceeded'],
    [
      'why it stopped early, in a field of the vendor',
      { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], x_groq: { id: 'r', error: 'overloaded' } },
      'provider_overloaded',
    ],
    ['an error inside the choice', { choices: [{ index: 0, delta: {}, error: { code: 429, message: 'x' } }] }, 'rate_limit_exceeded'],
    ['a bare message', { message: 'Too many requests', code: 'throttled' }, 'rate_limit_exceeded'],
  ])('%s', (_name, frame, type) => {
    expect(failure(() => decode([frame])).errorType).toBe(type)
    expect(failure(() => decode([text('a'), frame])).errorType).toBe(type)
    const out: ModelEvent[] = []
    expect(failure(() => decoderFor({}).body(JSON.stringify(frame), out)).errorType).toBe(type)
  })
  it('an error event', () => {
    const error = failure(() => decoderFor({}).push('{"error":{"message":"bad","status_code":429}}', 'error', []))
    expect(error.errorType).toBe('rate_limit_exceeded')
    expect(failure(() => decoderFor({}).push('overloaded', 'error', [])).errorType).toBe('provider_overloaded')
  })
  it('null and empty errors are none', () => {
    expect(
      foldEvents(
        decode([
          { error: null, choices: [{ index: 0, delta: { content: 'a' } }] },
          { error: {}, ...(end() as object) },
        ]),
      ).text,
    ).toBe('a')
  })
  it('skips frames that are no JSON, up to a limit', () => {
    expect(foldEvents(decode([text('a'), ...Array<string>(16).fill('{"broken'), text('b'), end()])).text).toBe('ab')
    expect(failure(() => decode([text('a'), ...Array<string>(17).fill('{"broken')])).errorType).toBe('provider_unavailable')
  })
  it.each([
    ['HTML', '<html>'],
    ['nothing', ''],
    ['no choices', '{"id":"x"}'],
    ['no content', '{"choices":[{"message":{"content":""},"finish_reason":"stop"}]}'],
    ['empty choices', '{"choices":[]}'],
  ])('a body of %s', (_name, body) => {
    expect(failure(() => decoderFor({}).body(body, [])).errorType).toBe('provider_unavailable')
  })
})
