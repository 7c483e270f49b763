import { expect, it } from 'vitest'
import type { ModelEvent } from '../../core/event.ts'
import { chatTarget } from './__fixtures__/target.ts'
import { ChatDecoder } from './stream.ts'

/** What the last event reports for a text that a server ended in this way. */
function stoppedBy(told: object, stop: unknown): unknown {
  const out: ModelEvent[] = []
  const decoder = new ChatDecoder({ input: [], stop }, chatTarget({}))
  decoder.push(JSON.stringify({ id: 'x', choices: [{ index: 0, delta: { content: 'a' }, finish_reason: null }] }), undefined, out)
  decoder.push(JSON.stringify({ id: 'x', choices: [{ index: 0, delta: {}, finish_reason: 'stop', ...told }] }), undefined, out)
  decoder.push('[DONE]', undefined, out)
  return (out.at(-1) as Extract<ModelEvent, { type: 'response-end' }>).stopped
}

it.each([
  ['one of several', { stop_reason: 'END' }, ['FIN', 'END'], { sequence: 'END' }],
  ['the only one', { stop_reason: 'END' }, 'END', { sequence: 'END' }],
  ['in the word of another kind of server', { matched_stop: 'END' }, ['END'], { sequence: 'END' }],
  ['a token', { stop_reason: 151_645 }, ['END'], undefined],
  ['a word that is no sequence of the caller', { stop_reason: 'stop' }, ['END'], undefined],
  ['nothing', { stop_reason: null, matched_stop: null }, ['END'], undefined],
  ['something nobody has asked for', { stop_reason: 'END' }, undefined, undefined],
])('the stop sequence that a server reports is read: %s', (_name, told, stop, expected) => {
  expect(stoppedBy(told, stop)).toEqual(expected)
})
