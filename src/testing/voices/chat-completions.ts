import { both, DONE, list, sse, type Json, type SeenTurn, type VendorVoice } from './voice.ts'

const CHAT_USAGE = {
  prompt_tokens: 30,
  completion_tokens: 12,
  total_tokens: 42,
  prompt_tokens_details: { cached_tokens: 10 },
  completion_tokens_details: { reasoning_tokens: 4 },
}

export const chat: VendorVoice = {
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

export const chatTurn = (message: Json): SeenTurn => ({
  role: message['role'] === 'assistant' ? 'assistant' : 'user',
  calls: list(message['tool_calls']).map((call) => String(call['id'])),
  results: message['role'] === 'tool' ? [String(message['tool_call_id'])] : [],
})
