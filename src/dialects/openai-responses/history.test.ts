import { describe, expect, it } from 'vitest'
import type { InputItem, JsonObject } from '../../core/item.ts'
import { target, type TargetParts } from './__fixtures__/harness.ts'
import { openAiResponses } from './index.ts'

/** The items a history is sent as; no tool is offered with it. */
function sent(input: readonly InputItem[], parts: TargetParts = {}): readonly JsonObject[] {
  return (JSON.parse(openAiResponses.encodeRequest({ input }, target(parts)).body) as { readonly input: readonly JsonObject[] }).input
}
const call = (name: string, call_id = 'c'): InputItem => ({ type: 'function_call', call_id, name, arguments: '{}' })
const output = (given: unknown = 'ok', call_id = 'c'): InputItem => ({ type: 'function_call_output', call_id, output: given }) as InputItem

describe('calls of earlier turns', () => {
  it('have names the endpoint takes also where no tools are offered any more', () => {
    const name = (given: string): unknown => sent([call(given), output()])[0]!['name']
    expect(name('get_weather')).toBe('get_weather')
    for (const given of ['files.read', 'read a file', 'größe', 'x'.repeat(90)]) expect(name(given)).toMatch(/^[a-zA-Z0-9_-]{1,64}$/)
    const [first, , second] = sent([call('files.read', 'a'), output('1', 'a'), call('files/read', 'b'), output('2', 'b')])
    expect(first!['name']).not.toBe(second!['name'])
  })
})
