import { describe, expect, it } from 'vitest'
import type { InputItem, JsonObject } from '../../core/item.ts'
import type { ModelRequest } from '../../core/request.ts'
import { decode, fold, target, type TargetParts } from './__fixtures__/harness.ts'
import { encodeResponsesRequest } from './request.ts'

const lookUp = { type: 'function', name: 'look_up', parameters: { type: 'object', properties: {} }, async: true } as const
const note = { type: 'custom', name: 'note', async: true } as const
const call = { type: 'function_call', call_id: 'call_1', name: 'look_up', arguments: '{}', async: true } as const
const custom = { type: 'custom_tool_call', call_id: 'call_2', name: 'note', input: 'later', async: true } as const
const user = (content: string): InputItem => ({ type: 'message', role: 'user', content })

function encode(request: Partial<ModelRequest>, parts: TargetParts = {}): { readonly body: JsonObject; readonly dropped: readonly string[] } {
  const { body, dropped } = encodeResponsesRequest({ input: [user('q')], ...request }, target(parts))
  return { body: JSON.parse(body) as JsonObject, dropped }
}

describe('a tool whose results may come later', () => {
  it('is called so that the caller can tell', () => {
    const item = (of: JsonObject, status: string): JsonObject => ({ ...of, id: 'fc_1', status })
    const { events } = decode([
      { type: 'response.output_item.added', output_index: 0, item: item({ ...call, arguments: '' }, 'in_progress') },
      { type: 'response.output_item.done', output_index: 0, item: item(call, 'completed') },
      { type: 'response.output_item.added', output_index: 1, item: item({ ...custom, input: '' }, 'in_progress') },
      { type: 'response.output_item.done', output_index: 1, item: item(custom, 'completed') },
      { type: 'response.completed', response: { id: 'r', status: 'completed', output: [] } },
    ])
    expect(fold(events).items.map(({ start }) => start['async'])).toEqual([true, true])
  })

  it('has calls without a result until the result is there, however late', () => {
    const waiting = [user('q'), call, custom, user('And?')]
    expect(encode({ input: waiting, tools: [lookUp, note] })).toMatchObject({ body: { input: waiting, tools: [lookUp, note] }, dropped: [] })
    const answered = [...waiting, { type: 'function_call_output', call_id: 'call_1', output: 'found' } as const]
    expect(encode({ input: answered, tools: [lookUp] }).body['input']).toEqual(answered)
  })

  it('is an ordinary one where the endpoint knows no others', () => {
    const { body, dropped } = encode({ input: [user('q'), call, user('And?')], tools: [lookUp] }, { options: { async_calls: false } })
    const { async: _, ...plainTool } = lookUp
    const { async: __, ...plainCall } = call
    const noResult = { type: 'function_call_output', call_id: 'call_1', output: 'No result is available for this call.' }
    expect(body).toMatchObject({ tools: [plainTool], input: [user('q'), plainCall, noResult, user('And?')] })
    expect(JSON.stringify(body)).not.toContain('async')
    expect(dropped).toEqual(['tools: async'])
  })

  it('of free-form input keeps its mark where it becomes a function', () => {
    const wrapped = (options: object) => encode({ input: [user('q'), custom], tools: [note] }, { options: { custom_tools: false, ...options } })
    expect(wrapped({})).toMatchObject({ body: { tools: [{ type: 'function', name: 'note', async: true }], input: [user('q'), { async: true }] } })
    const { body, dropped } = wrapped({ async_calls: false })
    expect([JSON.stringify(body).includes('async'), dropped]).toEqual([false, ['tools: async']])
  })
})
