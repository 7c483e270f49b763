import { describe, expect, it } from 'vitest'
import type { InputItem, JsonObject } from '../../core/item.ts'
import { target, type TargetParts } from './__fixtures__/harness.ts'
import { openAiResponses } from './index.ts'

/** The items that a history is sent as, without any tools. */
function sent(input: readonly InputItem[], parts: TargetParts = {}): readonly JsonObject[] {
  return (JSON.parse(openAiResponses.encodeRequest({ input }, target(parts)).body) as { readonly input: readonly JsonObject[] }).input
}
const call = (name: string, call_id = 'c'): InputItem => ({ type: 'function_call', call_id, name, arguments: '{}' })
const output = (given: unknown = 'ok', call_id = 'c'): InputItem => ({ type: 'function_call_output', call_id, output: given })

describe('calls of earlier turns', () => {
  it('have names the endpoint takes also where no tools are offered any more', () => {
    const name = (given: string): unknown => sent([call(given), output()])[0]!['name']
    expect(name('get_weather')).toBe('get_weather')
    for (const given of ['files.read', 'read a file', 'größe', 'x'.repeat(90)]) expect(name(given)).toMatch(/^[a-zA-Z0-9_-]{1,64}$/)
    const [first, , second] = sent([call('files.read', 'a'), output('1', 'a'), call('files/read', 'b'), output('2', 'b')])
    expect(first!['name']).not.toBe(second!['name'])
  })

  it('are answered by outputs of their own kind, whatever a client calls them', () => {
    const custom: InputItem = { type: 'custom_tool_call', call_id: 'c', name: 'sql', input: 'SELECT 1' }
    const ofCustom = { type: 'custom_tool_call_output', call_id: 'c', output: 'ok' }
    expect(sent([custom, output()])[1]).toEqual(ofCustom)
    expect(sent([output(), custom])[1]).toEqual(ofCustom)
    expect(sent([call('f'), ofCustom])[1]).toEqual(output())
  })

  it('that gave nothing are answered by an empty text', () => {
    expect(sent([call('f'), output([])])[1]).toEqual(output(''))
    expect(sent([call('f'), output([])], { options: { tool_output_parts: false } })[1]).toEqual(output(''))
  })
})

describe('calls of the shell of the caller', () => {
  const shell = { type: 'local_shell_call', id: 'lsh_1', call_id: 'c', status: 'completed', action: { type: 'exec', command: ['ls'], env: {} } }

  it('are answered by the id of the call, which is all their output has', () => {
    const { id: _, ...bare } = shell
    const result = (id: string): InputItem => ({ type: 'local_shell_call_output', id, output: 'a.ts' })
    for (const id of ['c', 'lsh_1']) expect(sent([shell, result(id)])).toEqual([bare, { type: 'local_shell_call_output', id: 'c', output: 'a.ts' }])
    expect(sent([shell, { ...result('own'), call_id: 'c' }])[1]).toEqual({
      type: 'local_shell_call_output',
      call_id: 'c',
      output: 'a.ts',
    })
  })

  it('may be answered as functions are, once', () => {
    expect(sent([shell, output(), output('again')]).map((item) => item['type'])).toEqual(['local_shell_call', 'function_call_output', 'message'])
    expect(sent([shell, { type: 'local_shell_call_output', call_id: 'c', output: '' }, output('more')]).at(-1)!['type']).toBe('message')
  })
})
