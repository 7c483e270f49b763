import { describe, expect, it } from 'vitest'
import type { ModelEvent } from '../../core/event.ts'
import type { OutputItem } from '../../core/item.ts'
import { manualClock, sequentialIds } from '../../testing/deterministic.ts'
import type { AssemblerOptions } from '../responses/assembler-options.ts'
import { chatCompletions } from '../chat-completions/door.ts'
import { messages } from '../messages/door.ts'
import type { Door } from './door.ts'

const ASKED: readonly Door[] = [chatCompletions, messages]

/** The answer of a model that consists of this item only. */
function answerOf(door: Door, item: OutputItem): object {
  const clock = manualClock()
  const request = { model: 'acme/small', input: [] }
  const facts = () => ({ model: 'acme/small' })
  const options: AssemblerOptions = { id: 'gen-1', request, receivedAt: clock.now(), stream: false, clock, newId: sequentialIds(), facts }
  const subject = door.read({ messages: [{ role: 'user', content: 'Hi' }] }).fold(options)
  const events: readonly ModelEvent[] = [
    { type: 'item-start', key: 'a', item },
    { type: 'item-end', key: 'a' },
    { type: 'response-end', reason: 'stop' },
  ]
  subject.push(events)
  subject.finish()
  return JSON.parse(subject.answer()) as object
}

describe.each(ASKED)('$path: calls that wait for the caller, of tools only Responses have', (door) => {
  it.each<OutputItem>([
    { type: 'apply_patch_call', call_id: 'c', operation: {} },
    { type: 'computer_call', call_id: 'c' },
    { type: 'local_shell_call', call_id: 'c', action: {} },
    { type: 'shell_call', call_id: 'c', action: {}, environment: { type: 'local' } },
    { type: 'shell_call', call_id: 'c', action: {} },
    { type: 'tool_search_call', call_id: 'c', execution: 'client' },
    { type: 'mcp_approval_request', id: 'm', server_label: 's', name: 'n', arguments: '{}' },
  ])('are refused, because the caller would never see them: $type', (item) => {
    expect(() => answerOf(door, item)).toThrow(`The model asks its caller for ${item.type}, which has no place in this format`)
  })

  it.each<OutputItem>([
    { type: 'shell_call', call_id: 'c', action: {}, environment: { type: 'container_reference', container_id: 'x' } },
    { type: 'tool_search_call', execution: 'server' },
    { type: 'web_search_call', status: 'completed' },
  ])('do not include those the provider runs: $type', (item) =>
    expect(JSON.stringify(answerOf(door, item))).toMatch(/"(?:finish|stop)_reason":"(?:stop|end_turn)"/),
  )
})
