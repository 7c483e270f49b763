import { awsEvent } from './aws-frames.ts'

/** An answer, whoever gives it. `secret` is what the vendor signs or seals its reasoning with. */
export interface ScriptedAnswer {
  readonly reasoning?: { readonly text: string; readonly secret: string }
  readonly text?: string
  readonly calls?: readonly { readonly id: string; readonly name: string; readonly arguments: string }[]
}

/** One step of a conversation as an upstream was sent it. */
export interface SeenTurn {
  readonly role: 'user' | 'assistant'
  readonly calls: readonly string[]
  readonly results: readonly string[]
}

/** One vendor's format, written down independently of the code under test: how its answers look, and what its requests say. */
export interface VendorVoice {
  readonly dialect: string
  /** Upstream id of a model that reasons, calls tools and sees. */
  readonly model: string
  readonly options: { readonly [option: string]: unknown }
  readonly contentType: string
  /** The frames of a streamed answer. */
  stream(answer: ScriptedAnswer): readonly Buffer[]
  /** The same answer as one body. */
  json(answer: ScriptedAnswer): string
  /** The conversation inside a request; results stand where the vendor wants them. */
  turns(body: Json): SeenTurn[]
  /** Whether the vendor's own secret has to come back with the calls it led to. */
  readonly returnsSecret: boolean
  /** The vendor's words for service tiers; one without a word cannot be asked for. */
  readonly tiers: { readonly default?: string; readonly flex?: string; readonly priority?: string }
  /** The word a request has for its tier; undefined: none. */
  tier(body: Json): unknown
}

type Json = { readonly [field: string]: unknown }

const list = (value: unknown): Json[] => (Array.isArray(value) ? (value as Json[]) : [])
const object = (value: unknown): Json => (typeof value === 'object' && value !== null ? (value as Json) : {})
const sse = (events: readonly unknown[], { named = false, end = '' } = {}): Buffer[] => [
  ...events.map((event) => Buffer.from(`${named ? `event: ${String(object(event)['type'])}\n` : ''}data: ${JSON.stringify(event)}\n\n`)),
  ...(end === '' ? [] : [Buffer.from(end)]),
]
const DONE = 'data: [DONE]\n\n'
const defined = <T>(...values: (T | undefined)[]): T[] => values.filter((value) => value !== undefined)
const both = (text: string): string[] => [text.slice(0, 3), text.slice(3)].filter((piece) => piece !== '')

// ---- chat completions ----

const CHAT_USAGE = {
  prompt_tokens: 30,
  completion_tokens: 12,
  total_tokens: 42,
  prompt_tokens_details: { cached_tokens: 10 },
  completion_tokens_details: { reasoning_tokens: 4 },
}

const chat: VendorVoice = {
  dialect: 'openai-chat',
  model: 'thinker-1',
  options: { reasoning_replay: 'reasoning_details', reasoning_style: 'reasoning-object' },
  contentType: 'text/event-stream',
  stream({ reasoning, text, calls = [] }) {
    const chunk = (delta: object, finish_reason: string | null = null): object => ({
      id: 'c-1',
      object: 'chat.completion.chunk',
      model: 'thinker-1',
      choices: [{ index: 0, delta, finish_reason }],
    })
    return sse(
      [
        chunk({ role: 'assistant', content: '' }),
        ...(reasoning === undefined
          ? []
          : [
              chunk({ reasoning_details: [{ type: 'reasoning.text', text: reasoning.text, index: 0, format: 'chat-v1' }] }),
              chunk({ reasoning_details: [{ type: 'reasoning.text', signature: reasoning.secret, index: 0, format: 'chat-v1' }] }),
            ]),
        ...both(text ?? '').map((content) => chunk({ content })),
        ...calls.flatMap((call, index) => [
          chunk({ tool_calls: [{ index, id: call.id, type: 'function', function: { name: call.name, arguments: '' } }] }),
          ...both(call.arguments).map((piece) => chunk({ tool_calls: [{ index, function: { arguments: piece } }] })),
        ]),
        chunk({}, calls.length > 0 ? 'tool_calls' : 'stop'),
        { id: 'c-1', object: 'chat.completion.chunk', choices: [], usage: CHAT_USAGE },
      ],
      { end: DONE },
    )
  },
  json: ({ reasoning, text, calls = [] }) =>
    JSON.stringify({
      id: 'c-1',
      object: 'chat.completion',
      model: 'thinker-1',
      usage: CHAT_USAGE,
      choices: [
        {
          index: 0,
          finish_reason: calls.length > 0 ? 'tool_calls' : 'stop',
          message: {
            role: 'assistant',
            content: text ?? null,
            ...(reasoning === undefined
              ? {}
              : { reasoning_details: [{ type: 'reasoning.text', text: reasoning.text, signature: reasoning.secret, index: 0, format: 'chat-v1' }] }),
            ...(calls.length === 0
              ? {}
              : { tool_calls: calls.map((call) => ({ id: call.id, type: 'function', function: { name: call.name, arguments: call.arguments } })) }),
          },
        },
      ],
    }),
  turns: (body) =>
    list(body['messages']).flatMap((message): SeenTurn[] =>
      message['role'] === 'system' || message['role'] === 'developer' ? [] : [chatTurn(message)],
    ),
  returnsSecret: true,
  tiers: { default: 'default', flex: 'flex', priority: 'priority' },
  tier: (body) => body['service_tier'],
}

const chatTurn = (message: Json): SeenTurn => ({
  role: message['role'] === 'assistant' ? 'assistant' : 'user',
  calls: list(message['tool_calls']).map((call) => String(call['id'])),
  results: message['role'] === 'tool' ? [String(message['tool_call_id'])] : [],
})

// ---- responses ----

const RESPONSES_USAGE = {
  input_tokens: 30,
  input_tokens_details: { cached_tokens: 10 },
  output_tokens: 12,
  output_tokens_details: { reasoning_tokens: 4 },
  total_tokens: 42,
}

function responsesOutput({ reasoning, text, calls = [] }: ScriptedAnswer): Json[] {
  return defined<Json>(
    reasoning === undefined
      ? undefined
      : { type: 'reasoning', id: 'rs_vendor', summary: [{ type: 'summary_text', text: reasoning.text }], encrypted_content: reasoning.secret },
    text === undefined
      ? undefined
      : { type: 'message', id: 'msg_vendor', role: 'assistant', status: 'completed', content: [{ type: 'output_text', text, annotations: [] }] },
    ...calls.map((call) => ({
      type: 'function_call',
      id: `fc_vendor_${call.id}`,
      call_id: call.id,
      name: call.name,
      arguments: call.arguments,
      status: 'completed',
    })),
  )
}

const responses: VendorVoice = {
  dialect: 'openai-responses',
  model: 'thinker-1',
  options: {},
  contentType: 'text/event-stream',
  stream(answer) {
    const output = responsesOutput(answer)
    const response = { id: 'resp_vendor', object: 'response', model: 'thinker-1', status: 'in_progress', output: [] }
    const events: Json[] = [{ type: 'response.created', response }]
    output.forEach((item, output_index) => {
      const at = { output_index, item_id: item['id'] }
      const text =
        item['type'] === 'reasoning'
          ? String(list(item['summary'])[0]?.['text'])
          : item['type'] === 'message'
            ? String(list(item['content'])[0]?.['text'])
            : String(item['arguments'])
      const empty = {
        ...item,
        ...(item['type'] === 'reasoning'
          ? { summary: [], encrypted_content: '' }
          : item['type'] === 'message'
            ? { content: [], status: 'in_progress' }
            : { arguments: '', status: 'in_progress' }),
      }
      events.push({ type: 'response.output_item.added', output_index, item: empty })
      if (item['type'] === 'reasoning') {
        events.push({ type: 'response.reasoning_summary_part.added', ...at, summary_index: 0, part: { type: 'summary_text', text: '' } })
        events.push(
          { type: 'response.reasoning_summary_text.delta', ...at, summary_index: 0, delta: text },
          { type: 'response.reasoning_summary_text.done', ...at, summary_index: 0, text },
        )
        events.push({ type: 'response.reasoning_summary_part.done', ...at, summary_index: 0, part: { type: 'summary_text', text } })
      } else if (item['type'] === 'message') {
        events.push({ type: 'response.content_part.added', ...at, content_index: 0, part: { type: 'output_text', text: '', annotations: [] } })
        for (const delta of both(text)) events.push({ type: 'response.output_text.delta', ...at, content_index: 0, delta })
        events.push(
          { type: 'response.output_text.done', ...at, content_index: 0, text },
          { type: 'response.content_part.done', ...at, content_index: 0, part: { type: 'output_text', text, annotations: [] } },
        )
      } else {
        for (const delta of both(text)) events.push({ type: 'response.function_call_arguments.delta', ...at, delta })
        events.push({ type: 'response.function_call_arguments.done', ...at, arguments: text })
      }
      events.push({ type: 'response.output_item.done', output_index, item })
    })
    events.push({ type: 'response.completed', response: { ...response, status: 'completed', output, usage: RESPONSES_USAGE } })
    return sse(
      events.map((event, sequence_number) => ({ ...event, sequence_number })),
      { named: true },
    )
  },
  json: (answer) =>
    JSON.stringify({
      id: 'resp_vendor',
      object: 'response',
      model: 'thinker-1',
      status: 'completed',
      output: responsesOutput(answer),
      usage: RESPONSES_USAGE,
    }),
  turns(body) {
    // Items stand one by one here; neighbours of the assistant are one turn.
    const turns: { role: SeenTurn['role']; calls: string[]; results: string[] }[] = []
    for (const item of list(body['input'])) {
      if (item['role'] === 'system' || item['role'] === 'developer') continue
      const isResult = item['type'] === 'function_call_output'
      const role = isResult || item['role'] === 'user' ? 'user' : 'assistant'
      const last = turns.at(-1)
      const turn =
        last?.role === role && (role === 'assistant' || (isResult && last.results.length > 0))
          ? last
          : ({ role, calls: [], results: [] } as (typeof turns)[number])
      if (turn !== last) turns.push(turn)
      if (item['type'] === 'function_call') turn.calls.push(String(item['call_id']))
      if (isResult) turn.results.push(String(item['call_id']))
    }
    // Results find their calls by id here, in any order.
    turns.forEach(({ results }, at) => results.sort((a, b) => turns[at - 1]!.calls.indexOf(a) - turns[at - 1]!.calls.indexOf(b)))
    return turns
  },
  returnsSecret: true,
  tiers: { default: 'default', flex: 'flex', priority: 'priority' },
  tier: (body) => body['service_tier'],
}

// ---- messages ----

function messagesBlocks({ reasoning, text, calls = [] }: ScriptedAnswer): Json[] {
  return defined<Json>(
    reasoning === undefined ? undefined : { type: 'thinking', thinking: reasoning.text, signature: reasoning.secret },
    text === undefined ? undefined : { type: 'text', text },
    ...calls.map((call) => ({ type: 'tool_use', id: call.id, name: call.name, input: JSON.parse(call.arguments) as unknown })),
  )
}

const messages: VendorVoice = {
  dialect: 'anthropic-messages',
  model: 'claude-sonnet-4-5',
  options: { service_tier: true },
  contentType: 'text/event-stream',
  stream(answer) {
    const events: Json[] = [
      {
        type: 'message_start',
        message: {
          id: 'msg_vendor',
          type: 'message',
          role: 'assistant',
          model: 'claude-sonnet-4-5',
          content: [],
          stop_reason: null,
          usage: { input_tokens: 20, cache_read_input_tokens: 10, cache_creation_input_tokens: 0, output_tokens: 1 },
        },
      },
      { type: 'ping' },
    ]
    messagesBlocks(answer).forEach((block, index) => {
      const delta = (value: Json): Json => ({ type: 'content_block_delta', index, delta: value })
      if (block['type'] === 'thinking') {
        events.push({ type: 'content_block_start', index, content_block: { type: 'thinking', thinking: '', signature: '' } })
        events.push(delta({ type: 'thinking_delta', thinking: block['thinking'] }), delta({ type: 'signature_delta', signature: block['signature'] }))
      } else if (block['type'] === 'text') {
        events.push(
          { type: 'content_block_start', index, content_block: { type: 'text', text: '' } },
          ...both(String(block['text'])).map((text) => delta({ type: 'text_delta', text })),
        )
      } else {
        events.push(
          { type: 'content_block_start', index, content_block: { ...block, input: {} } },
          ...both(JSON.stringify(block['input'])).map((partial_json) => delta({ type: 'input_json_delta', partial_json })),
        )
      }
      events.push({ type: 'content_block_stop', index })
    })
    events.push(
      {
        type: 'message_delta',
        delta: { stop_reason: answer.calls?.length ? 'tool_use' : 'end_turn', stop_sequence: null },
        usage: { output_tokens: 12 },
      },
      { type: 'message_stop' },
    )
    return sse(events, { named: true })
  },
  json: (answer) =>
    JSON.stringify({
      id: 'msg_vendor',
      type: 'message',
      role: 'assistant',
      model: 'claude-sonnet-4-5',
      content: messagesBlocks(answer),
      stop_reason: answer.calls?.length ? 'tool_use' : 'end_turn',
      usage: { input_tokens: 20, cache_read_input_tokens: 10, cache_creation_input_tokens: 0, output_tokens: 12 },
    }),
  turns: (body) =>
    list(body['messages']).map((message): SeenTurn => {
      const blocks = list(message['content'])
      const ids = (type: string, field: string): string[] => blocks.flatMap((block) => (block['type'] === type ? [String(block[field])] : []))
      return {
        role: message['role'] === 'assistant' ? 'assistant' : 'user',
        calls: ids('tool_use', 'id'),
        results: ids('tool_result', 'tool_use_id'),
      }
    }),
  returnsSecret: true,
  tiers: { default: 'standard_only', priority: 'auto' },
  tier: (body) => body['service_tier'],
}

// ---- generateContent ----

const GEMINI_USAGE = { promptTokenCount: 30, cachedContentTokenCount: 10, candidatesTokenCount: 8, thoughtsTokenCount: 4, totalTokenCount: 42 }

/** The signature stands on the first call, else on the text. */
function geminiParts({ reasoning, text, calls = [] }: ScriptedAnswer): Json[] {
  const signature = reasoning === undefined ? {} : { thoughtSignature: reasoning.secret }
  return defined<Json>(
    reasoning === undefined ? undefined : { text: reasoning.text, thought: true },
    text === undefined ? undefined : { text, ...(calls.length === 0 ? signature : {}) },
    ...calls.map((call, index) => ({
      functionCall: { id: call.id, name: call.name, args: JSON.parse(call.arguments) as unknown },
      ...(index === 0 ? signature : {}),
    })),
  )
}

const generate = (parts: Json[], end: boolean): Json => ({
  candidates: [{ index: 0, content: { role: 'model', parts }, ...(end ? { finishReason: 'STOP' } : {}) }],
  usageMetadata: GEMINI_USAGE,
  modelVersion: 'gemini-3-flash-preview',
  responseId: 'r-vendor',
})

const gemini: VendorVoice = {
  dialect: 'gemini',
  model: 'gemini-3-flash-preview',
  options: {},
  contentType: 'text/event-stream',
  stream(answer) {
    const parts = geminiParts(answer)
    return parts.map((part, index) => Buffer.from(`data: ${JSON.stringify(generate([part], index === parts.length - 1))}\r\n\r\n`))
  },
  json: (answer) => JSON.stringify(generate(geminiParts(answer), true)),
  turns: (body) =>
    list(body['contents']).map((content): SeenTurn => {
      const parts = list(content['parts'])
      const ids = (field: string): string[] =>
        parts.flatMap((part) => (part[field] === undefined ? [] : [String(object(part[field])['id'] ?? object(part[field])['name'])]))
      return { role: content['role'] === 'model' ? 'assistant' : 'user', calls: ids('functionCall'), results: ids('functionResponse') }
    }),
  returnsSecret: true,
  tiers: { default: 'standard', flex: 'flex', priority: 'priority' },
  tier: (body) => body['serviceTier'],
}

// ---- converse ----

const CONVERSE_USAGE = { inputTokens: 20, cacheReadInputTokens: 10, cacheWriteInputTokens: 0, outputTokens: 12, totalTokens: 42 }

const converse: VendorVoice = {
  dialect: 'bedrock-converse',
  model: 'us.anthropic.claude-sonnet-4-5-20250929-v1:0',
  options: {},
  contentType: 'application/vnd.amazon.eventstream',
  stream({ reasoning, text, calls = [] }) {
    const frames = [awsEvent('messageStart', { role: 'assistant', p: 'abc' })]
    let contentBlockIndex = 0
    const block = (deltas: readonly object[], start?: object): void => {
      if (start !== undefined) frames.push(awsEvent('contentBlockStart', { contentBlockIndex, start }))
      for (const delta of deltas) frames.push(awsEvent('contentBlockDelta', { contentBlockIndex, delta, p: 'abcdef' }))
      frames.push(awsEvent('contentBlockStop', { contentBlockIndex: contentBlockIndex++ }))
    }
    if (reasoning !== undefined) block([{ reasoningContent: { text: reasoning.text } }, { reasoningContent: { signature: reasoning.secret } }])
    if (text !== undefined) block(both(text).map((piece) => ({ text: piece })))
    for (const call of calls)
      block(
        both(call.arguments).map((input) => ({ toolUse: { input } })),
        { toolUse: { toolUseId: call.id, name: call.name } },
      )
    return [
      ...frames,
      awsEvent('messageStop', { stopReason: calls.length > 0 ? 'tool_use' : 'end_turn' }),
      awsEvent('metadata', { usage: CONVERSE_USAGE, metrics: { latencyMs: 1 } }),
    ]
  },
  json: ({ reasoning, text, calls = [] }) =>
    JSON.stringify({
      output: {
        message: {
          role: 'assistant',
          content: defined<Json>(
            reasoning === undefined ? undefined : { reasoningContent: { reasoningText: { text: reasoning.text, signature: reasoning.secret } } },
            text === undefined ? undefined : { text },
            ...calls.map((call) => ({ toolUse: { toolUseId: call.id, name: call.name, input: JSON.parse(call.arguments) as unknown } })),
          ),
        },
      },
      stopReason: calls.length > 0 ? 'tool_use' : 'end_turn',
      usage: CONVERSE_USAGE,
    }),
  turns: (body) =>
    list(body['messages']).map((message): SeenTurn => {
      const ids = (field: string): string[] =>
        list(message['content']).flatMap((block) => (block[field] === undefined ? [] : [String(object(block[field])['toolUseId'])]))
      return { role: message['role'] === 'assistant' ? 'assistant' : 'user', calls: ids('toolUse'), results: ids('toolResult') }
    }),
  returnsSecret: true,
  tiers: { flex: 'flex', priority: 'priority' },
  tier: (body) => object(body['serviceTier'])['type'],
}

// ---- cohere ----

const COHERE_USAGE = {
  billed_units: { input_tokens: 3, output_tokens: 4 },
  tokens: { input_tokens: 30, output_tokens: 12, reasoning_tokens: 4 },
  cached_tokens: 10,
}

const cohere: VendorVoice = {
  dialect: 'cohere-v2',
  model: 'command-a-plus-05-2026',
  options: {},
  contentType: 'text/event-stream',
  stream({ reasoning, text, calls = [] }) {
    let index = 0
    const content = (kind: 'text' | 'thinking', whole: string): Json[] => {
      const at = { index: index++ }
      return [
        { type: 'content-start', ...at, delta: { message: { content: { type: kind, [kind]: '' } } } },
        ...both(whole).map((piece) => ({ type: 'content-delta', ...at, delta: { message: { content: { [kind]: piece } } } })),
        { type: 'content-end', ...at },
      ]
    }
    return sse(
      [
        {
          id: 'co-vendor',
          type: 'message-start',
          delta: { message: { role: 'assistant', content: [], tool_plan: '', tool_calls: [], citations: [] } },
        },
        ...(reasoning === undefined ? [] : content('thinking', `${reasoning.text} ${reasoning.secret}`)),
        ...(text === undefined ? [] : content('text', text)),
        ...calls.flatMap((call, at) => [
          {
            type: 'tool-call-start',
            index: at,
            delta: { message: { tool_calls: { id: call.id, type: 'function', function: { name: call.name, arguments: '' } } } },
          },
          ...both(call.arguments).map((piece) => ({
            type: 'tool-call-delta',
            index: at,
            delta: { message: { tool_calls: { function: { arguments: piece } } } },
          })),
          { type: 'tool-call-end', index: at },
        ]),
        { type: 'message-end', delta: { finish_reason: calls.length > 0 ? 'TOOL_CALL' : 'COMPLETE', usage: COHERE_USAGE } },
      ],
      { named: true, end: DONE },
    )
  },
  json: ({ reasoning, text, calls = [] }) =>
    JSON.stringify({
      id: 'co-vendor',
      finish_reason: calls.length > 0 ? 'TOOL_CALL' : 'COMPLETE',
      usage: COHERE_USAGE,
      message: {
        role: 'assistant',
        content: defined<Json>(
          reasoning === undefined ? undefined : { type: 'thinking', thinking: `${reasoning.text} ${reasoning.secret}` },
          text === undefined ? undefined : { type: 'text', text },
        ),
        ...(calls.length === 0
          ? {}
          : { tool_calls: calls.map((call) => ({ id: call.id, type: 'function', function: { name: call.name, arguments: call.arguments } })) }),
      },
    }),
  turns: (body) => list(body['messages']).flatMap((message): SeenTurn[] => (message['role'] === 'system' ? [] : [chatTurn(message)])),
  returnsSecret: true,
  tiers: {},
  tier: (body) => body['service_tier'],
}

/** Every vendor's format, by dialect. Each counts 30 tokens in, 10 of them cached, and 12 out. */
export const VENDOR_VOICES: ReadonlyMap<string, VendorVoice> = new Map(
  [chat, responses, messages, gemini, converse, cohere].map((voice) => [voice.dialect, voice]),
)

/** Results stand directly behind their calls, all of them, in their order; the user speaks first. Throws an Error that names the first breach. */
export function checkTurns(turns: readonly SeenTurn[]): void {
  let open: string[] = []
  turns.forEach(({ role, calls, results }, at) => {
    const fail = (what: string): never => {
      throw new Error(`turn ${at} (${role}): ${what}\n${JSON.stringify(turns)}`)
    }
    if (at === 0 && role !== 'user') fail('the conversation does not begin with the user')
    for (const result of results) if (open.shift() !== result) fail(`the result ${result} does not follow its call`)
    if (results.length === 0 && open.length > 0) fail(`the calls ${open.join(', ')} have no results`)
    if (calls.length > 0) open = [...calls]
  })
  if (open.length > 0) throw new Error(`the calls ${open.join(', ')} have no results\n${JSON.stringify(turns)}`)
}
