import { describe, expect, it } from 'vitest'
import type { ModelRequest } from '../../core/request.ts'
import { chatTarget } from './__fixtures__/target.ts'
import { placeBreakpoints } from './cache.ts'
import { openAiChat } from './index.ts'

const SHORT = { type: 'ephemeral' } as const
const LONG = { type: 'ephemeral', ttl: '1h' } as const
const part = (text: string, mark?: object): object => ({ type: 'text', text, ...(mark === undefined ? {} : { cache_control: mark }) })
const user = (...content: readonly object[]): { role: string; content: readonly object[] } => ({ role: 'user', content })
const PART = /"text":"(\w)"(?:,"cache_control":\{"type":"ephemeral"(?:,"ttl":"(\w+)")?\})?/g
const marksOf = (messages: readonly object[]): string[] =>
  [...JSON.stringify(messages).matchAll(PART)].map(([whole, text, ttl]) => (whole.includes('cache_control') ? `${text} ${ttl ?? 'short'}` : text!))

it('keeps the last four breakpoints, the one the caller asks for at the end among them', () => {
  const messages = [
    user(part('a', SHORT), part('b', SHORT)),
    { role: 'assistant', content: 'x' },
    user(part('c', SHORT), part('d', SHORT), part('e')),
  ]
  const dropped: string[] = []
  const placed = placeBreakpoints({ tools: [], messages }, { cache_control: SHORT }, { cache_breakpoints: true }, dropped)
  expect(marksOf(placed.messages)).toEqual(['a', 'b short', 'c short', 'd short', 'e short'])
  expect(dropped).toEqual(['prompt_cache_breakpoint: more than the endpoint takes'])
  expect(marksOf(messages)).toEqual(['a short', 'b short', 'c short', 'd short', 'e'])
})

it('lets those before a long-lived one live as long', () => {
  const dropped: string[] = []
  const messages = [user(part('a', SHORT)), user(part('b'))]
  const placed = placeBreakpoints({ tools: [], messages }, { cache_control: LONG }, { cache_breakpoints: true }, dropped)
  expect(marksOf(placed.messages)).toEqual(['a 1h', 'b 1h'])
  expect(dropped).toEqual([])
})

it('leaves alone what is valid, and servers that know no breakpoints', () => {
  const messages = [user(part('a', LONG)), user(part('b', LONG))]
  const whole = { tools: [], messages }
  expect(placeBreakpoints(whole, {}, { cache_breakpoints: true }, []).messages).toBe(messages)
  expect(placeBreakpoints(whole, { cache_control: LONG }, { cache_breakpoints: false }, []).messages).toBe(messages)
})

it('counts those of tools first, which come before all messages', () => {
  const tools = ['p', 'q'].map((text) => ({ text, cache_control: SHORT }))
  const messages = [user(part('a', SHORT), part('b', SHORT)), user(part('c', LONG))]
  const placed = placeBreakpoints({ tools, messages }, {}, { cache_breakpoints: true }, [])
  expect(marksOf([...placed.tools, ...placed.messages])).toEqual(['p', 'q 1h', 'a 1h', 'b 1h', 'c 1h'])
})

it('marks tools where servers know breakpoints', () => {
  const request: ModelRequest = { input: [], tools: [{ type: 'function', name: 'f', prompt_cache_breakpoint: { mode: 'explicit', ttl: '1h' } }] }
  const toolsFor = (cache_breakpoints: boolean) =>
    (JSON.parse(openAiChat.encodeRequest(request, chatTarget({ options: { cache_breakpoints } })).body) as { tools: object[] }).tools
  expect(toolsFor(true)).toEqual([expect.objectContaining({ type: 'function', cache_control: LONG })])
  expect(JSON.stringify(toolsFor(false))).not.toMatch(/cache/)
})

describe('where servers know breakpoints', () => {
  const mark = { prompt_cache_breakpoint: { mode: 'explicit' } } as const
  const call = { type: 'function_call', call_id: 'a', name: 'f', arguments: '{}' } as const
  const question = { type: 'message', role: 'user', content: 'q' } as const
  const messagesFor = (input: ModelRequest['input'], options: object = { cache_breakpoints: true }) =>
    (JSON.parse(openAiChat.encodeRequest({ input }, chatTarget({ options })).body) as { messages: { content: unknown }[] }).messages
  const result = [
    { type: 'input_text', text: 'r' },
    { type: 'input_text', text: 's', ...mark },
  ] as const

  it('the one system message that stands first keeps those of all', () => {
    const system = (...content: readonly object[]) => ({ type: 'message', role: 'system', content })
    const input = [system({ type: 'input_text', text: 'a' }, { type: 'input_text', text: '' }), system(result[1]), question]
    const first = (options: object) => messagesFor(input, { system_role: 'first-only', ...options })[0]
    expect(first({ cache_breakpoints: true })).toEqual({ role: 'system', content: [part('a'), part('s', SHORT)] })
    expect(first({})).toMatchObject({ role: 'system', content: expect.stringContaining('a\n\n') as unknown })
  })
  it('results of tools keep theirs', () => {
    const input = [question, call, { type: 'function_call_output', call_id: 'a', output: result }] as const
    expect(messagesFor(input)[2]?.content).toEqual([part('r\n\ns', SHORT)])
    expect(messagesFor(input, {})[2]?.content).toBe('r\n\ns')
  })
  it('so do results with images', () => {
    const image = { type: 'input_image', image_url: 'data:image/png;base64,AA', detail: 'auto', ...mark } as const
    const input = [question, call, { type: 'function_call_output', call_id: 'a', output: [result[0], image] }] as const
    expect(messagesFor(input, { cache_breakpoints: true, tool_result_images: true })[2]?.content).toEqual([
      part('r', SHORT),
      expect.objectContaining({ type: 'image_url' }),
    ])
  })
  it('so do messages of the user whose mark stands on a picture', () => {
    const image = { type: 'input_image', image_url: 'data:image/png;base64,AA', detail: 'auto', ...mark } as const
    const shown = (...content: readonly object[]) => messagesFor([{ type: 'message', role: 'user', content }] as never)[0]?.content
    const picture = expect.objectContaining({ type: 'image_url' }) as object
    expect(shown(result[0], image)).toEqual([part('r', SHORT), picture])
    expect(shown(image, result[0])).toEqual([picture, part('r')])
  })
  it('so do answers, and their words carry that of a call', () => {
    const said = (text: object) => ({ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'x', annotations: [], ...text }] })
    expect(messagesFor([question, said(mark), question] as never)[1]?.content).toEqual([part('x', SHORT)])
    expect(messagesFor([question, said({}), { ...call, ...mark }, question] as never)[1]).toMatchObject({
      content: [part('x', SHORT)],
      tool_calls: [{ id: 'a' }],
    })
    expect(messagesFor([question, said({}), question] as never)[1]?.content).toBe('x')
    expect(messagesFor([question, said(mark), question] as never, {})[1]?.content).toBe('x')
  })
})
