/**
 * An independent implementation of stream-requirements sections 2 to 7: the rules for a Responses stream, whoever made it. Throws with one sentence at the
 * first violation; returns what a client would have collected.
 */

interface WireEvent {
  readonly type: string
  readonly sequence_number: number
  readonly [field: string]: unknown
}
interface WireItem {
  readonly type: string
  readonly id: string
  readonly [field: string]: unknown
}
interface OpenWireItem {
  readonly index: number
  readonly item: WireItem
  text: string
  readonly parts: { type: string; text: string; annotations: unknown[] }[]
  readonly summary: string[]
  openPart: boolean
  openSummary: boolean
  done: string | undefined
}
export interface CheckedStream {
  readonly events: readonly WireEvent[]
  readonly terminal: WireEvent
  readonly output: readonly WireItem[]
  readonly text: string
}

const TERMINAL = new Set(['response.completed', 'response.incomplete', 'response.failed'])
const RESOURCE_FIELDS = [
  'id',
  'object',
  'created_at',
  'completed_at',
  'status',
  'error',
  'incomplete_details',
  'instructions',
  'model',
  'output',
  'parallel_tool_calls',
  'temperature',
  'tool_choice',
  'tools',
  'top_p',
  'presence_penalty',
  'frequency_penalty',
  'metadata',
  'usage',
  'previous_response_id',
  'reasoning',
  'safety_identifier',
  'prompt_cache_key',
  'top_logprobs',
  'truncation',
  'service_tier',
  'store',
  'background',
  'output_text',
  'text',
]

function must(condition: unknown, message: string): asserts condition {
  if (!condition) throw new Error(message)
}

/** Splits a whole SSE body of ours; every `event:` line must match the type. */
export function parseWire(body: string): WireEvent[] {
  const events: WireEvent[] = []
  let done = false
  for (const block of body.split('\n\n')) {
    if (block === '' || block.startsWith(':')) continue
    must(!done, 'something follows [DONE]')
    const lines = block.split('\n')
    const data = lines.find((line) => line.startsWith('data: '))?.slice(6)
    must(data !== undefined, `a block without data: ${block.slice(0, 80)}`)
    if (data === '[DONE]') done = true
    else {
      const event = JSON.parse(data) as WireEvent
      must(lines.find((line) => line.startsWith('event: '))?.slice(7) === event.type, `event line differs from type ${event.type}`)
      events.push(event)
    }
  }
  must(done, 'the stream ends without [DONE]')
  return events
}

/** `debug`: the caller asked to see upstream requests, which no other caller may see. */
export function checkWire(body: string, { debug = false } = {}): CheckedStream {
  const events = parseWire(body)
  must(events[0]?.type === 'response.created', 'response.created is not first')
  must(events[1]?.type === 'response.in_progress', 'response.in_progress is not second')
  const id = (events[0]['response'] as WireItem).id
  const output: WireItem[] = []
  let opened = 0
  /** Thoughts that let text pass: their parts are closed, and they end when no other item is open. */
  const overtaken = new Map<unknown, OpenWireItem>()
  const ids = new Set<string>()
  const calls = new Set<string>()
  let open: OpenWireItem | undefined
  events.forEach((event, n) => {
    must(event.sequence_number === n, `sequence_number ${event.sequence_number} at position ${n}`)
    if ('response' in event) {
      const resource = event['response'] as WireItem
      must(resource.id === id, 'the response changes its id')
      for (const field of RESOURCE_FIELDS) must(field in resource, `the response of ${event.type} lacks ${field}`)
      must(TERMINAL.has(event.type) === (n === events.length - 1), `${event.type} at position ${n} of ${events.length}`)
    } else if (event.type === 'keepalive') {
      must(Object.keys(event).length === 2, 'a keepalive says more than that')
    } else if (event.type === 'error') {
      const end = events[n + 1]
      must(n === events.length - 2 && end?.type === 'response.failed', 'an error event that is not followed by the failure')
      const { code, message } = event as { code?: unknown; message?: unknown }
      must(JSON.stringify((end['response'] as WireItem)['error']) === JSON.stringify({ code, message }), 'the error event differs from the failure')
    } else if (event.type === 'response.debug') {
      must(debug && typeof event['debug'] === 'object', 'response.debug, for which nobody asked')
    } else if (event.type === 'response.output_item.added') {
      const item = event['item'] as WireItem
      if (open !== undefined) {
        must(open.item.type === 'reasoning' && !open.openPart && !open.openSummary, 'an item opens while another is open')
        overtaken.set(open.index, open)
      }
      must(event['output_index'] === opened, `output_index ${String(event['output_index'])} is not dense`)
      must(!ids.has(item.id), `item id ${item.id} is used twice`)
      ids.add(item.id)
      if (typeof item['call_id'] === 'string' && item.type === 'function_call') {
        must(!calls.has(item['call_id']), 'a call_id is used twice')
        calls.add(item['call_id'])
      }
      open = { index: opened++, item, text: '', parts: [], summary: [], openPart: false, openSummary: false, done: undefined }
    } else if (event.type === 'response.output_item.done') {
      open ??= overtaken.get(event['output_index'])
      must(open !== undefined && event['output_index'] === open.index, 'an item ends that is not open')
      const item = event['item'] as WireItem
      must(item.id === open.item.id && item.type === open.item.type, 'an item changes its identity')
      must(!open.openPart && !open.openSummary, `${item.type} ends with an open part`)
      checkDone(open, item)
      output[open.index] = item
      overtaken.delete(open.index)
      open = undefined
    } else {
      open ??= overtaken.get(event['output_index'])
      must(open !== undefined, `${event.type} outside an item`)
      must(event['item_id'] === open.item.id && event['output_index'] === open.index, `${event.type} belongs to another item`)
      applyPart(open, event)
    }
  })
  must(open === undefined && overtaken.size === 0, 'an item is never closed')
  const terminal = events[events.length - 1]!
  must(TERMINAL.has(terminal.type), 'there is no terminal event')
  const resource = terminal['response'] as { readonly output: readonly WireItem[]; readonly output_text: string; readonly status: string }
  must(`response.${resource.status}` === terminal.type, 'the status differs from the terminal event')
  must(JSON.stringify(resource.output) === JSON.stringify(output), 'the terminal output differs from the items that were done')
  return { events, terminal, output, text: resource.output_text }
}

function applyPart(open: OpenWireItem, event: WireEvent): void {
  const index = event['content_index'] as number
  const last = open.parts[open.parts.length - 1]
  switch (event.type) {
    case 'response.content_part.added':
      must(!open.openPart && index === open.parts.length, 'a content part opens out of turn')
      open.parts.push({ type: (event['part'] as { type: string }).type, text: '', annotations: [] })
      open.openPart = true
      return
    case 'response.output_text.delta':
    case 'response.refusal.delta':
    case 'response.reasoning_text.delta':
      must(open.openPart && index === open.parts.length - 1 && last, `${event.type} without its part`)
      must(event.type !== 'response.output_text.delta' || Array.isArray(event['logprobs']), 'a text delta lacks logprobs')
      last.text += event['delta'] as string
      return
    case 'response.output_text.done':
    case 'response.reasoning_text.done':
      must(last?.text === event['text'], 'the done text differs from its deltas')
      return
    case 'response.refusal.done':
      must(last?.text === event['refusal'], 'the done refusal differs from its deltas')
      return
    case 'response.output_text.annotation.added':
      must(open.openPart && last && event['annotation_index'] === last.annotations.length, 'annotations are not dense')
      last.annotations.push(event['annotation'])
      return
    case 'response.content_part.done':
      must(open.openPart && index === open.parts.length - 1, 'a content part ends that is not open')
      open.openPart = false
      return
    case 'response.reasoning_summary_part.added':
      must(!open.openSummary && event['summary_index'] === open.summary.length, 'a summary part opens out of turn')
      open.summary.push('')
      open.openSummary = true
      return
    case 'response.reasoning_summary_text.delta':
      must(open.openSummary, 'a summary delta without its part')
      open.summary[open.summary.length - 1] += event['delta'] as string
      return
    case 'response.reasoning_summary_text.done':
      must(open.summary.at(-1) === event['text'], 'the done summary differs from its deltas')
      return
    case 'response.reasoning_summary_part.done':
      open.openSummary = false
      return
    case 'response.function_call_arguments.delta':
    case 'response.custom_tool_call_input.delta':
      open.text += event['delta'] as string
      return
    case 'response.function_call_arguments.done':
      must(open.text === event['arguments'] && event['name'] === open.item['name'], 'the done arguments differ from their deltas')
      open.done = open.text
      return
    case 'response.custom_tool_call_input.done':
      must(open.text === event['input'], 'the done input differs from its deltas')
      open.done = open.text
      return
    default:
  }
}

function checkDone(open: OpenWireItem, item: WireItem): void {
  if (item.type === 'function_call') must(open.done !== undefined && item['arguments'] === open.done, 'a call ends without its arguments')
  if (item.type === 'custom_tool_call') must(open.done !== undefined && item['input'] === open.done, 'a custom call ends without its input')
  if (item.type === 'message') {
    const content = item['content'] as { text?: string; refusal?: string; annotations?: unknown[] }[]
    must(
      JSON.stringify(content.map((p) => p.text ?? p.refusal)) === JSON.stringify(open.parts.map((p) => p.text)),
      'the message differs from its deltas',
    )
    const annotations = content.map((p) => p.annotations ?? [])
    must(JSON.stringify(annotations) === JSON.stringify(open.parts.map((p) => p.annotations)), 'the annotations differ from their events')
  }
  if (item.type === 'reasoning') {
    must(
      JSON.stringify((item['summary'] as { text: string }[]).map((p) => p.text)) === JSON.stringify(open.summary),
      'the summary differs from its deltas',
    )
    const content = (item['content'] as { text: string }[] | undefined) ?? []
    must(JSON.stringify(content.map((p) => p.text)) === JSON.stringify(open.parts.map((p) => p.text)), 'the reasoning differs from its deltas')
  }
}
