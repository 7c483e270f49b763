import { both, defined, list, sse, type Json, type ScriptedAnswer, type SeenTurn, type VendorVoice } from './voice.ts'

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

export const responses: VendorVoice = {
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
    // This format has separate items; neighbouring items of the assistant are one turn.
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
    // In this format results are matched to calls by id, in any order.
    turns.forEach(({ results }, at) => results.sort((a, b) => turns[at - 1]!.calls.indexOf(a) - turns[at - 1]!.calls.indexOf(b)))
    return turns
  },
  returnsSecret: true,
  tiers: { default: 'default', flex: 'flex', priority: 'priority' },
  tier: (body) => body['service_tier'],
}
