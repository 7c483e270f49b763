import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { GatewayError } from '../../core/error.ts'
import type { ModelEvent } from '../../core/event.ts'
import type { ReasoningItem } from '../../core/item.ts'
import { openReasoning } from '../../core/reasoning-envelope.ts'
import type { ModelRequest } from '../../core/request.ts'
import { createAwsEventStreamParser } from '../../lib/aws-event-stream.ts'
import { awsEvent, awsException } from '../../testing/aws-frames.ts'
import { checkEventBalance, foldEvents } from '../../testing/event-balance.ts'
import { bedrockTarget, LLAMA } from './__fixtures__/target.ts'
import type { TargetOverrides } from './__fixtures__/target.ts'
import { exceptionError } from './exceptions.ts'
import { bedrockConverse } from './index.ts'
import { BedrockDecoder } from './stream.ts'

type Frame = readonly [type: string, payload: unknown]

const start: Frame = ['messageStart', { role: 'assistant', p: 'abc' }]
const text = (delta: string, index = 0): Frame => ['contentBlockDelta', { contentBlockIndex: index, delta: { text: delta }, p: 'abcdef' }]
const thought = (delta: string, index = 0): Frame => ['contentBlockDelta', { contentBlockIndex: index, delta: { reasoningContent: { text: delta } } }]
const signed = (signature: string, index = 0): Frame => [
  'contentBlockDelta',
  { contentBlockIndex: index, delta: { reasoningContent: { signature } } },
]
const redacted = (data: string, index = 0): Frame => [
  'contentBlockDelta',
  { contentBlockIndex: index, delta: { reasoningContent: { redactedContent: Buffer.from(data).toString('base64') } } },
]
const call = (index: number, id: string, name: string, type?: string): Frame => [
  'contentBlockStart',
  { contentBlockIndex: index, start: { toolUse: { toolUseId: id, name, ...(type === undefined ? {} : { type }) } } },
]
const args = (index: number, input: string): Frame => ['contentBlockDelta', { contentBlockIndex: index, delta: { toolUse: { input } } }]
const citation = (index: number, value: unknown): Frame => ['contentBlockDelta', { contentBlockIndex: index, delta: { citation: value } }]
const stop = (index = 0): Frame => ['contentBlockStop', { contentBlockIndex: index }]
const end = (stopReason = 'end_turn'): Frame => ['messageStop', { stopReason }]
const usage: Frame = [
  'metadata',
  { usage: { inputTokens: 22, cacheWriteInputTokens: 2492, outputTokens: 13, totalTokens: 2527 }, metrics: { latencyMs: 1 } },
]

function decode(frames: readonly Frame[], request: ModelRequest = { input: [] }, overrides: TargetOverrides = {}): ModelEvent[] {
  const out: ModelEvent[] = []
  const decoder = new BedrockDecoder(request, bedrockTarget(overrides))
  for (const [type, payload] of frames) decoder.push(typeof payload === 'string' ? payload : JSON.stringify(payload), type, out)
  if (!decoder.finished) decoder.end(out)
  checkEventBalance(out)
  return out
}

function failure(act: () => unknown): GatewayError {
  try {
    act()
  } catch (error) {
    if (error instanceof GatewayError) return error
    throw error
  }
  return expect.unreachable('it should have failed')
}

const last = (events: readonly ModelEvent[]) => events.at(-1) as Extract<ModelEvent, { type: 'response-end' }>
const types = (events: readonly ModelEvent[]): string[] => events.map(({ type }) => type)
const ends = (events: readonly ModelEvent[]) => events.flatMap((event) => (event.type === 'item-end' ? [event.item] : []))

describe('text', () => {
  it('opens its message with the first text that is not empty, although blocks of text have no start', () => {
    const events = decode([start, text(''), text('Hel'), text('lo'), text(''), stop(), end(), usage])
    expect(types(events)).toEqual(['response-start', 'item-start', 'text-delta', 'text-delta', 'item-end', 'response-end'])
    expect(foldEvents(events).text).toBe('Hello')
  })
  it('is one message over several blocks of text', () => {
    expect(decode([start, text('a', 0), stop(0), text('b', 1), stop(1), end(), usage]).filter(({ type }) => type === 'item-start')).toHaveLength(1)
  })
  it('is decoded the same with and without the short way', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.constantFrom('text', 'thought'), fc.string({ unit: 'grapheme', maxLength: 20 }), fc.boolean()), { maxLength: 20 }),
        (pieces) => {
          const frames: Frame[] = pieces.map(([kind, delta, padded], at) => {
            const payload = {
              contentBlockIndex: kind === 'text' ? 1 : 0,
              delta: kind === 'text' ? { text: delta } : { reasoningContent: { text: delta } },
            }
            return ['contentBlockDelta', padded ? { ...payload, p: 'abcdefghij'.slice(0, at % 10) } : payload]
          })
          const run = (fast: boolean): ModelEvent[] => {
            const out: ModelEvent[] = []
            const decoder = new BedrockDecoder({ input: [] }, bedrockTarget(), fast)
            for (const [type, payload] of [...frames, text('x', 2), end(), usage]) decoder.push(JSON.stringify(payload), type, out)
            return out
          }
          expect(run(true)).toEqual(run(false))
        },
      ),
    )
  })
})

describe('reasoning', () => {
  const fields = (events: readonly ModelEvent[]): Partial<ReasoningItem>[] =>
    ends(events).filter((item) => item?.['format'] !== undefined) as Partial<ReasoningItem>[]
  it('carries its signature and the exact text it covers, in the contract fields and in the envelope', () => {
    const events = decode([start, thought('Let '), thought('me'), signed('SIG'), stop(), text('Hi', 1), stop(1), end(), usage])
    const [item] = fields(events)
    expect(item).toMatchObject({ format: 'anthropic-claude-v1', signature: 'SIG' })
    expect(openReasoning(item?.encrypted_content)).toEqual({ format: 'anthropic-claude-v1', scope: 'acme', signature: 'SIG', text: 'Let me' })
  })
  it('may be a signature without any text', () => {
    expect(openReasoning(fields(decode([start, signed('S'), stop(), text('x', 1), end(), usage]))[0]?.encrypted_content)).toMatchObject({
      signature: 'S',
      text: '',
    })
  })
  it('may be redacted, in several pieces', () => {
    const [item] = fields(decode([start, redacted('AB'), redacted('CD'), stop(), text('x', 1), end(), usage]))
    expect(openReasoning(item?.encrypted_content)).toEqual({ format: 'anthropic-claude-v1', scope: 'acme', data: 'ABCD' })
  })
  it('is an item per block', () => {
    const events = decode([start, thought('a'), signed('1'), stop(0), thought('b', 1), signed('2', 1), stop(1), text('x', 2), end(), usage])
    expect(fields(events).map(({ signature }) => signature)).toEqual(['1', '2'])
  })
  it('cannot be replayed where the model family has no signatures', () => {
    expect(fields(decode([start, thought('a'), stop(0), text('x', 1), end(), usage], { input: [] }, { model: LLAMA }))).toEqual([
      { format: 'unknown' },
    ])
  })
})

describe('tool calls', () => {
  it('stand beside each other, with arguments as the model wrote them', () => {
    const events = decode([
      start,
      text('Look', 0),
      stop(0),
      call(1, 'a', 'f'),
      args(1, '{"n":'),
      args(1, '12345678901234567890}'),
      stop(1),
      call(2, 'b', 'f'),
      args(2, '{}'),
      stop(2),
      end('tool_use'),
      usage,
    ])
    expect(foldEvents(events).calls).toEqual([
      { type: 'function_call', callId: 'a', name: 'f', text: '{"n":12345678901234567890}' },
      { type: 'function_call', callId: 'b', name: 'f', text: '{}' },
    ])
    expect(last(events).reason).toBe('tool_calls')
  })
  it('without arguments get an empty object, also before another block', () => {
    expect(
      foldEvents(decode([start, call(0, 'a', 'f'), stop(0), call(1, 'b', 'g'), args(1, ''), stop(1), end('tool_use'), usage])).calls.map(
        (each) => each.text,
      ),
    ).toEqual(['{}', '{}'])
  })
  it('cut off by the limit are incomplete and not repaired', () => {
    const events = decode([start, call(0, 'a', 'f'), args(0, '{"x": "y'), stop(0), end('max_tokens'), usage])
    expect(ends(events)).toEqual([{ status: 'incomplete' }])
    expect(foldEvents(events).calls[0]!.text).toBe('{"x": "y')
    expect(last(events).reason).toBe('length')
  })
  it('come back under the names of the caller, free-form ones unwrapped', () => {
    const request: ModelRequest = { input: [], tools: [{ type: 'custom', name: 'apply patch!' }] }
    const body = JSON.parse(
      bedrockConverse.encodeRequest({ ...request, input: [{ type: 'message', role: 'user', content: 'q' }] }, bedrockTarget()).body,
    )
    const events = decode(
      [start, call(0, 'a', body.toolConfig.tools[0].toolSpec.name), args(0, '{"input":"*** Begin"}'), stop(0), end('tool_use'), usage],
      request,
    )
    expect(foldEvents(events).calls).toEqual([{ type: 'custom_tool_call', callId: 'a', name: 'apply patch!', text: '*** Begin' }])
  })
  it('of the service itself are not the caller’s', () => {
    const events = decode([
      start,
      call(0, 's', 'code_interpreter', 'server_tool_use'),
      args(0, '{"snippet":"1"}'),
      stop(0),
      ['contentBlockStart', { contentBlockIndex: 1, start: { toolResult: { toolUseId: 's' } } }],
      ['contentBlockDelta', { contentBlockIndex: 1, delta: { toolResult: [{ json: {} }] } }],
      stop(1),
      text('42', 2),
      stop(2),
      end(),
      usage,
    ])
    expect(foldEvents(events)).toMatchObject({ text: '42', calls: [] })
  })
  it('of the answer tool are the answer', () => {
    const request: ModelRequest = { input: [], text: { format: { type: 'json_schema', name: 'n', schema: { type: 'object' } } } }
    const events = decode([start, call(0, 'a', 'structured_answer'), args(0, '{"x":'), args(0, '1}'), stop(0), end('tool_use'), usage], request, {
      model: 'amazon.nova-pro-v1:0',
    })
    expect(foldEvents(events)).toMatchObject({ text: '{"x":1}', calls: [] })
    expect(last(events).reason).toBe('stop')
  })
  it('of the answer tool suppress text beside it, but not text that is the answer itself', () => {
    const request: ModelRequest = { input: [], text: { format: { type: 'json_schema', name: 'n', schema: { type: 'object' } } } }
    const said = (...frames: Frame[]): string =>
      foldEvents(decode([start, ...frames, end('tool_use'), usage], request, { model: 'amazon.nova-pro-v1:0' })).text
    const answer = [call(1, 'a', 'structured_answer'), args(1, '{"x":1}'), stop(1)]
    expect(said(text('<thinking>So.</thinking>'), stop(), ...answer)).toBe('{"x":1}')
    expect(said(...answer, call(2, 'b', 'structured_answer'), args(2, '{"x":2}'), stop(2))).toBe('{"x":1}')
    expect(said(text('{"x":3}'), stop())).toBe('{"x":3}')
    expect(said(text('No.'), stop())).toBe('No.')
  })
  it('without a name are garbage', () => {
    expect(failure(() => decode([start, call(0, 'a', '')])).errorType).toBe('provider_unavailable')
  })
})

describe('tools the service runs', () => {
  const model = 'us.amazon.nova-2-lite-v1:0'
  const code = [
    call(0, 's', 'nova_code_interpreter', 'server_tool_use'),
    args(0, '{"snippet":"6*'),
    args(0, '7"}'),
    stop(0),
    ['contentBlockStart', { contentBlockIndex: 1, start: { toolResult: { toolUseId: 's', status: 'success' } } }],
    ['contentBlockDelta', { contentBlockIndex: 1, delta: { toolResult: [{ json: { stdOut: '42', stdErr: '', isError: false } }] } }],
    stop(1),
  ] as const satisfies readonly Frame[]
  const items = (events: readonly ModelEvent[]): unknown[] => events.flatMap((event) => (event.type === 'item-start' ? [event.item] : []))
  const ran = {
    type: 'code_interpreter_call',
    status: 'completed',
    code: '6*7',
    container_id: 'nova_code_interpreter',
    outputs: [{ type: 'logs', logs: '42' }],
  }
  it('are items of the contract', () => {
    const search = [call(2, 'w', 'nova_grounding', 'server_tool_use'), args(2, '{"query":"moon"}'), stop(2)] as const
    const events = decode([start, ...code, ...search, text('Far.', 3), stop(3), end(), usage], undefined, { model })
    expect(items(events)).toMatchObject([
      ran,
      { type: 'web_search_call', status: 'completed', action: { type: 'search', query: 'moon' } },
      { type: 'message' },
    ])
    expect(last(events)).toMatchObject({ reason: 'stop', usage: { serverToolUse: { web_search: 1 } } })
    // The connection may close after the reason and before the counts.
    const uncounted = decode([start, ...search, text('Far.', 3), stop(3), end()], undefined, { model })
    expect(last(uncounted)).toMatchObject({ reason: 'stop', usage: { totalTokens: 0, serverToolUse: { web_search: 1 } } })
  })
  it('are the same in a whole body', () => {
    const content = [
      { toolUse: { toolUseId: 's', name: 'nova_code_interpreter', type: 'server_tool_use', input: { snippet: '6*7' } } },
      { toolResult: { toolUseId: 's', status: 'success', content: [{ json: { stdOut: '42' } }] } },
      { text: '42' },
    ]
    const out: ModelEvent[] = []
    const decoder = new BedrockDecoder({ input: [] }, bedrockTarget({ model }))
    decoder.body(JSON.stringify({ output: { message: { role: 'assistant', content } }, stopReason: 'end_turn' }), out)
    expect(items(out)[0]).toEqual(ran)
  })
  it('that fail, or have no result, are marked as such', () => {
    const failed = code.map((frame): Frame => [frame[0], JSON.parse(JSON.stringify(frame[1]).replace('"success"', '"error"'))])
    expect(items(decode([start, ...failed, text('No.', 2), stop(2), end(), usage], undefined, { model }))[0]).toMatchObject({ status: 'failed' })
    const cut = decode([start, ...code.slice(0, 4), text('No.', 2), stop(2), end(), usage], undefined, { model })
    expect(items(cut)).toContainEqual({ ...ran, status: 'incomplete', outputs: null })
  })
})

describe('citations', () => {
  it('cover the text of their block, wherever they stand in it', () => {
    const web = { title: 'T', location: { web: { url: 'https://a.test/', domain: 'a.test' } } }
    const document = { title: 'facts', location: { documentChar: { documentIndex: 2, start: 0, end: 9 } } }
    const events = decode([start, text('One. ', 0), stop(0), citation(1, web), text('Two.', 1), citation(1, document), stop(1), end(), usage])
    expect(events.flatMap((event) => (event.type === 'annotation' ? [event.annotation] : []))).toEqual([
      { type: 'url_citation', url: 'https://a.test/', title: 'T', start_index: 5, end_index: 9 },
      { type: 'file_citation', file_id: 'facts', filename: 'facts', index: 9 },
    ])
  })
})

describe('the end', () => {
  it('comes with the usage, which follows the stop, and counts what a cache read and wrote as input', () => {
    const decoder = new BedrockDecoder({ input: [] }, bedrockTarget())
    const out: ModelEvent[] = []
    for (const [type, payload] of [start, text('a'), stop(), end()] as Frame[]) decoder.push(JSON.stringify(payload), type, out)
    expect([decoder.settled, decoder.finished]).toEqual([true, false])
    decoder.push(JSON.stringify(usage[1]), 'metadata', out)
    expect(decoder.finished).toBe(true)
    expect(last(out).usage).toMatchObject({ inputTokens: 2514, cacheWriteTokens: 2492, cachedTokens: 0, outputTokens: 13, totalTokens: 2527 })
  })
  it.each(['constructor', 'toString', '__proto__'])('may be called %s, which is an ordinary name', (word) => {
    expect(last(decode([start, text('a'), stop(), end(word)])).reason).toBe('stop')
  })
  it('may lack usage', () => {
    expect(last(decode([start, text('a'), stop(), end()])).usage).toBeUndefined()
  })
  it('reads the doubled names of older answers and one-hour writes', () => {
    const metadata = {
      usage: {
        inputTokens: 1,
        outputTokens: 1,
        cacheReadInputTokenCount: 5,
        cacheWriteInputTokens: 7,
        cacheDetails: [
          { ttl: '1h', inputTokens: 3 },
          { ttl: '5m', inputTokens: 4 },
        ],
        serverToolUsage: { webSearchRequests: 2 },
      },
    }
    expect(last(decode([start, text('a'), end(), ['metadata', metadata]])).usage).toMatchObject({
      inputTokens: 13,
      cachedTokens: 5,
      cacheWriteTokens: 7,
      cacheWrite1hTokens: 3,
      serverToolUse: { web_search: 2 },
    })
  })
  it.each([
    ['end_turn', 'stop'],
    ['stop_sequence', 'stop'],
    ['tool_use', 'stop'],
    ['max_tokens', 'length'],
    ['model_context_window_exceeded', 'length'],
    ['guardrail_intervened', 'content_filter'],
    ['content_filtered', 'content_filter'],
    ['refusal', 'content_filter'],
    ['something_new', 'stop'],
  ])('%s of a text is %s', (native, reason) => {
    expect(last(decode([start, text('a'), stop(), end(native), usage]))).toMatchObject({ reason, nativeReason: native })
  })
  it.each(['malformed_model_output', 'malformed_tool_use'])('%s is a failure, by the model’s own doing', (native) => {
    const failed = failure(() => decode([start, text('a'), end(native), usage]))
    expect([failed.errorType, failed.details.fruitless]).toEqual(['provider_unavailable', true])
  })
  it('before the stop is a truncation', () => {
    expect(failure(() => decode([])).errorType).toBe('provider_unavailable')
    expect(failure(() => decode([start, text('a'), stop()])).errorType).toBe('provider_unavailable')
  })
  it('without content is a failure, unless a limit or a filter explains it', () => {
    expect(failure(() => decode([start, end(), usage])).errorType).toBe('provider_unavailable')
    expect(last(decode([start, end('guardrail_intervened'), usage])).reason).toBe('content_filter')
    expect(last(decode([start, end('max_tokens'), usage])).reason).toBe('length')
  })
})

describe('exceptions inside the stream', () => {
  it.each([
    ['internalServerException', {}, 'provider_unavailable', true],
    ['modelStreamErrorException', { originalStatusCode: 400, originalMessage: 'x' }, 'provider_unavailable', true],
    ['modelStreamErrorException', { originalStatusCode: 429 }, 'rate_limit_exceeded', true],
    ['serviceUnavailableException', {}, 'provider_overloaded', true],
    ['throttlingException', {}, 'rate_limit_exceeded', true],
    ['validationException', {}, 'invalid_request', true],
    ['modelTimeoutException', {}, 'timeout', true],
    ['modelNotReadyException', {}, 'provider_overloaded', true],
    ['serviceQuotaExceededException', {}, 'rate_limit_exceeded', true],
    ['accessDeniedException', {}, 'permission_denied', true],
    ['somethingNewException', {}, 'provider_unavailable', true],
  ])('%s %j is %s', (name, more, type, moves) => {
    for (const before of [[], [start], [start, text('half')]] as Frame[][]) {
      const error = failure(() => decode([...before, [`exception:${name}`, { message: 'It did not work.', ...more }]]))
      expect(error.errorType).toBe(type)
      expect(error.failover !== 'never').toBe(moves)
      expect(error.details).toMatchObject({ source: 'provider', providerName: 'Acme' })
    }
  })
  it('distinguishes a prompt that is too long from other invalid requests', () => {
    expect(
      failure(() => decode([['exception:validationException', { message: 'Input is too long for requested model: Input Tokens Exceeded' }]]))
        .errorType,
    ).toBe('context_length_exceeded')
  })
  it('needs no payload', () => {
    expect(failure(() => decode([['exception:throttlingException', '']])).errorType).toBe('rate_limit_exceeded')
  })
})

describe('whole bodies', () => {
  const body = (content: unknown, more: object = {}): string =>
    JSON.stringify({
      output: { message: { role: 'assistant', content } },
      stopReason: 'end_turn',
      usage: { inputTokens: 1, outputTokens: 2 },
      ...more,
    })
  const read = (json: string, request: ModelRequest = { input: [] }): ModelEvent[] => {
    const out: ModelEvent[] = []
    const decoder = bedrockConverse.decoder(request, bedrockTarget({ stream: false }))
    decoder.body(json, out)
    decoder.end(out)
    checkEventBalance(out)
    return out
  }
  it('give what the stream gives', () => {
    const whole = read(
      body(
        [
          { reasoningContent: { reasoningText: { text: 'Hm', signature: 'S' } } },
          { text: 'Hi' },
          { toolUse: { toolUseId: 'a', name: 'f', input: { x: 1 } } },
        ],
        { stopReason: 'tool_use' },
      ),
    )
    const streamed = decode([
      start,
      thought('Hm'),
      signed('S'),
      stop(0),
      text('Hi', 1),
      stop(1),
      call(2, 'a', 'f'),
      args(2, '{"x":1}'),
      stop(2),
      end('tool_use'),
      ['metadata', { usage: { inputTokens: 1, outputTokens: 2 } }],
    ])
    expect(whole).toEqual(streamed)
  })
  it('keep numbers of arguments as they are written', () => {
    const json =
      '{"output":{"message":{"content":[{"toolUse":{"toolUseId":"a","name":"f","input":{"id":12345678901234567890,"x":1.0}}}]}},"stopReason":"tool_use"}'
    expect(foldEvents(read(json)).calls[0]!.text).toBe('{"id":12345678901234567890,"x":1.0}')
  })
  it('read cited text', () => {
    const events = read(
      body([
        {
          citationsContent: {
            content: [{ text: 'Cited.' }],
            citations: [{ title: 'f', location: { documentPage: { documentIndex: 0, start: 1, end: 2 } } }],
          },
        },
      ]),
    )
    expect(foldEvents(events).text).toBe('Cited.')
    expect(types(events)).toContain('annotation')
  })
  it.each([
    ['HTML', '<html>', 'provider_unavailable'],
    ['nothing', '', 'provider_unavailable'],
    ['a message about throttling', '{"message":"Too many requests, please wait"}', 'rate_limit_exceeded'],
    ['no content', body([]), 'provider_unavailable'],
  ])('of %s fail', (_name, json, type) => {
    expect(failure(() => read(json)).errorType).toBe(type)
  })
})

describe('errors before the stream', () => {
  it.each<[number, string | undefined, string, string, boolean]>([
    [400, 'ValidationException', 'messages.0.content.0 is bad', 'invalid_request', true],
    [400, 'ValidationException:http://internal.amazon.com/coral/', 'The provided model identifier is invalid.', 'not_found', true],
    [400, 'ValidationException', 'Malformed input request: extraneous key [toolResult] is not permitted', 'invalid_request', true],
    [
      400,
      undefined,
      'The model returned the following errors: Input Tokens Exceeded: Number of input tokens exceeds maximum length.',
      'context_length_exceeded',
      true,
    ],
    [403, 'UnrecognizedClientException', 'The security token included in the request is invalid.', 'authentication', true],
    [403, 'AccessDeniedException', "You don't have access to the model with the specified model ID.", 'permission_denied', true],
    [403, 'InvalidSignatureException', 'The request signature we calculated does not match the signature you provided.', 'authentication', true],
    [404, 'ResourceNotFoundException', 'gone', 'not_found', true],
    [408, 'ModelTimeoutException', 'slow', 'timeout', true],
    [424, 'ModelErrorException', 'The model failed', 'provider_unavailable', true],
    [429, 'ThrottlingException', 'Too many tokens, please wait before trying again.', 'rate_limit_exceeded', true],
    [429, 'ModelNotReadyException', 'not ready', 'provider_overloaded', true],
    [400, 'ServiceQuotaExceededException', 'quota', 'rate_limit_exceeded', true],
    [500, 'InternalServerException', 'oops', 'provider_unavailable', true],
    [503, 'ServiceUnavailableException', 'busy', 'provider_overloaded', true],
  ])('%i %s "%s" is %s', (status, name, message, type, moves) => {
    const headers = name === undefined ? {} : { 'x-amzn-errortype': name }
    const error = bedrockConverse.decodeError(status, headers, JSON.stringify({ message }), bedrockTarget())
    expect(error.errorType).toBe(type)
    expect(error.failover !== 'never').toBe(moves)
  })
  it.each([
    'messages.1.content.0: Invalid `signature` in `thinking` block. The block is bound to a different conversation.',
    'messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`.',
  ])('about reasoning in the history lead to one more try without it: %s', (said) => {
    const message = `The model returned the following errors: ${said}`
    const before = bedrockConverse.decodeError(400, { 'x-amzn-errortype': 'ValidationException' }, JSON.stringify({ message }), bedrockTarget())
    for (const error of [before, exceptionError('validationException', JSON.stringify({ message }), bedrockTarget())]) {
      expect([error.failover, error.details.metadata]).toEqual(['retry', { strip_reasoning: true }])
    }
  })
})

describe('any bytes', () => {
  const frame = fc.tuple(
    fc.constantFrom('messageStart', 'contentBlockStart', 'contentBlockDelta', 'contentBlockStop', 'messageStop', 'metadata', 'other', 'exception:x'),
    fc.oneof(
      fc.json(),
      fc.string(),
      fc
        .record({
          contentBlockIndex: fc.nat(3),
          delta: fc.oneof(
            fc.record({ text: fc.string() }),
            fc.record({ toolUse: fc.record({ input: fc.anything() }) }),
            fc.record({ reasoningContent: fc.dictionary(fc.constantFrom('text', 'signature', 'redactedContent'), fc.anything()) }),
            fc.record({ citation: fc.jsonValue() }),
          ),
          start: fc.oneof(fc.record({ toolUse: fc.record({ toolUseId: fc.string(), name: fc.string() }) }), fc.jsonValue()),
        })
        .map((value) => JSON.stringify(value)),
      fc
        .record({ stopReason: fc.constantFrom('end_turn', 'tool_use', 'max_tokens', 'x'), usage: fc.jsonValue() })
        .map((value) => JSON.stringify(value)),
    ),
  )
  it('give balanced events or a typed error', () => {
    fc.assert(
      fc.property(fc.array(frame, { maxLength: 25 }), (frames) => {
        const out: ModelEvent[] = []
        const decoder = new BedrockDecoder({ input: [] }, bedrockTarget())
        try {
          for (const [event, data] of frames) decoder.push(data ?? '', event, out)
          decoder.end(out)
        } catch (error) {
          expect(error).toBeInstanceOf(GatewayError)
          return
        }
        checkEventBalance(out)
      }),
      { numRuns: 500 },
    )
  })
  it('as a body give balanced events or a typed error', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), (data) => {
        const out: ModelEvent[] = []
        try {
          new BedrockDecoder({ input: [] }, bedrockTarget()).body(data, out)
        } catch (error) {
          expect(error).toBeInstanceOf(GatewayError)
          return
        }
        checkEventBalance(out)
      }),
    )
  })
  it('cut anywhere, a stream gives the same events, and a cut off one never looks complete', () => {
    const bytes = Buffer.concat(
      [
        start,
        thought('Hm'),
        signed('S'),
        stop(0),
        text('Grüße 🎉', 1),
        text('!', 1),
        stop(1),
        call(2, 'a', 'f'),
        args(2, '{}'),
        stop(2),
        end('tool_use'),
        usage,
      ].map(([type, payload]) => awsEvent(type, payload)),
    )
    const run = (length: number, cut: number): ModelEvent[] => {
      const out: ModelEvent[] = []
      const decoder = bedrockConverse.decoder({ input: [] }, bedrockTarget())
      const parser = createAwsEventStreamParser((data, event) => decoder.push(data, event, out))
      for (let at = 0; at < length; at += cut) parser.push(bytes.subarray(at, Math.min(at + cut, length)))
      parser.end()
      if (!decoder.finished) decoder.end(out)
      return out
    }
    const whole = run(bytes.length, bytes.length)
    for (const cut of [1, 2, 3, 7, 31, 100]) expect(run(bytes.length, cut)).toEqual(whole)
    // All lengths up to the frame with the stop reason.
    const stopAt = bytes.length - awsEvent(...usage).length
    for (let length = 0; length < stopAt; length++) expect(() => run(length, 1000)).toThrow()
    expect(last(run(stopAt, 1000)).reason).toBe('tool_calls')
  })
  it('of an exception frame reach the decoder as such', () => {
    const decoder = bedrockConverse.decoder({ input: [] }, bedrockTarget())
    const parser = createAwsEventStreamParser((data, event) => decoder.push(data, event, []))
    expect(failure(() => parser.push(awsException('throttlingException', { message: 'slow down' }))).errorType).toBe('rate_limit_exceeded')
  })
})
