import type { ModelEvent } from '../core/event.ts'

const DELTAS_OF: { readonly [delta: string]: readonly string[] } = {
  'text-delta': ['message'],
  'refusal-delta': ['message'],
  annotation: ['message'],
  'reasoning-delta': ['reasoning'],
  'arguments-delta': ['function_call', 'custom_tool_call'],
}

/**
 * Checks a complete answer against the rules of core/event.ts and throws an Error that names the first event that breaks one: every key
 * starts once, gets deltas of its own kind only while it is open and ends once; one `response-start` at most, first; exactly one
 * `response-end`, last, with everything closed and usage whose parts fit their wholes.
 */
export function checkEventBalance(events: readonly ModelEvent[]): void {
  const open = new Map<string, string>()
  const seen = new Set<string>()
  let ended = false
  events.forEach((event, index) => {
    const fail = (what: string): never => {
      throw new Error(`event ${index} (${event.type}): ${what}\n${JSON.stringify(events.slice(Math.max(0, index - 3), index + 1), undefined, 1)}`)
    }
    if (ended) fail('comes after response-end')
    switch (event.type) {
      case 'response-start':
        if (index !== 0) fail('is not the first event')
        return
      case 'item-start':
        if (seen.has(event.key)) fail(`starts ${event.key} a second time`)
        seen.add(event.key)
        open.set(event.key, event.item.type)
        return
      case 'item-end':
        if (!open.delete(event.key)) fail(`ends ${event.key}, which is not open`)
        return
      case 'response-end': {
        if (open.size > 0) fail(`leaves ${[...open.keys()].join(', ')} open`)
        if (event.usage !== undefined) checkUsage(event.usage, fail)
        ended = true
        return
      }
      default: {
        const type = open.get(event.key)
        if (type === undefined) return fail(`speaks of ${event.key}, which is not open`)
        const allowed = DELTAS_OF[event.type]
        if (allowed !== undefined && !allowed.includes(type)) fail(`goes to an item of type ${type}`)
        if ('delta' in event && event.delta === '') fail('is empty')
      }
    }
  })
  if (!ended) throw new Error(`no response-end after ${events.length} events`)
}

function checkUsage(usage: NonNullable<Extract<ModelEvent, { type: 'response-end' }>['usage']>, fail: (what: string) => never): void {
  if (usage.cachedTokens + usage.cacheWriteTokens > usage.inputTokens) fail('usage: cached and written exceed input')
  if (usage.reasoningTokens > usage.outputTokens) fail('usage: reasoning exceeds output')
  if (usage.totalTokens !== usage.inputTokens + usage.outputTokens) fail('usage: total is not input plus output')
}

/** The content of a balanced answer: its texts, reasoning and calls, for comparisons in tests. */
export function foldEvents(events: readonly ModelEvent[]): {
  text: string
  refusal: string
  reasoning: string
  calls: { type: string; callId: string; name: string; text: string }[]
} {
  const folded = { text: '', refusal: '', reasoning: '', calls: [] as { type: string; callId: string; name: string; text: string }[] }
  const calls = new Map<string, (typeof folded.calls)[number]>()
  for (const event of events) {
    if (event.type === 'text-delta') folded.text += event.delta
    else if (event.type === 'refusal-delta') folded.refusal += event.delta
    else if (event.type === 'reasoning-delta') folded.reasoning += event.delta
    else if (event.type === 'arguments-delta') calls.get(event.key)!.text += event.delta
    else if (event.type === 'item-start' && (event.item.type === 'function_call' || event.item.type === 'custom_tool_call')) {
      const item = event.item as { type: string; call_id: string; name: string }
      const call = { type: item.type, callId: item.call_id, name: item.name, text: '' }
      calls.set(event.key, call)
      folded.calls.push(call)
    } else if (event.type === 'item-end') {
      const call = calls.get(event.key)
      const whole = event.item?.[call?.type === 'custom_tool_call' ? 'input' : 'arguments']
      if (call !== undefined && typeof whole === 'string') call.text = whole
    }
  }
  return folded
}
