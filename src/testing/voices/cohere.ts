import { chatTurn } from './chat-completions.ts'
import { both, defined, DONE, list, sse, type Json, type SeenTurn, type VendorVoice } from './voice.ts'

const COHERE_USAGE = {
  billed_units: { input_tokens: 3, output_tokens: 4 },
  tokens: { input_tokens: 30, output_tokens: 12, reasoning_tokens: 4 },
  cached_tokens: 10,
}

export const cohere: VendorVoice = {
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
