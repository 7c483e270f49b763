import { both, defined, list, sse, type Json, type ScriptedAnswer, type SeenTurn, type VendorVoice } from './voice.ts'

function messagesBlocks({ reasoning, text, calls = [] }: ScriptedAnswer): Json[] {
  return defined<Json>(
    reasoning === undefined ? undefined : { type: 'thinking', thinking: reasoning.text, signature: reasoning.secret },
    text === undefined ? undefined : { type: 'text', text },
    ...calls.map((call) => ({ type: 'tool_use', id: call.id, name: call.name, input: JSON.parse(call.arguments) as unknown })),
  )
}

export const messages: VendorVoice = {
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
