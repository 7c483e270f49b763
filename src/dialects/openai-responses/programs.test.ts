import { describe, expect, it } from 'vitest'
import type { InputItem, JsonObject } from '../../core/item.ts'
import type { ModelRequest } from '../../core/request.ts'
import { decode, decodeBody, fold, target, type TargetParts } from './__fixtures__/harness.ts'
import { encodeResponsesRequest } from './request.ts'

/** https://developers.openai.com/api/docs/guides/tools-programmatic-tool-calling */
const caller = { type: 'program', caller_id: 'call_prog' }
const program = { type: 'program', id: 'prog_1', call_id: 'call_prog', code: 'text(await tools.stock({}))', fingerprint: 'opaque' }
const nested = { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'stock', arguments: '{"sku":"a"}', status: 'completed', caller }
const output = { type: 'function_call_output', call_id: 'call_1', output: '{"left":42}', caller }
const result = { type: 'program_output', id: 'prog_out_1', call_id: 'call_prog', result: '42', status: 'completed' }
const stock = {
  type: 'function',
  name: 'stock',
  parameters: { type: 'object', properties: { sku: { type: 'string' } } },
  output_schema: { type: 'object', properties: { left: { type: 'number' } } },
  allowed_callers: ['programmatic'],
}
const run = { type: 'custom', name: 'sql', allowed_callers: ['direct', 'programmatic'] }

function encode(request: Partial<ModelRequest>, parts: TargetParts = {}): { readonly body: JsonObject; readonly dropped: readonly string[] } {
  const { body, dropped } = encodeResponsesRequest({ input: [], ...request }, target(parts))
  return { body: JSON.parse(body) as JsonObject, dropped }
}
/** An answer of `items` in the form in which its caller sends it back. */
function told(items: readonly object[]): readonly InputItem[] {
  const { events } = decodeBody({ id: 'r', status: 'completed', output: items })
  return fold(events).items.map(({ start, end, arguments: text, type }) => {
    const whole = { ...start, ...end }
    return (type === 'function_call' ? { ...whole, arguments: text } : type === 'custom_tool_call' ? { ...whole, input: text } : whole) as InputItem
  })
}

describe('a program the endpoint runs', () => {
  it('continues with the results of the calls it made, which carry its id', () => {
    const items = told([program, nested])
    expect(items[1]).toMatchObject({ type: 'function_call', call_id: 'call_1', caller })
    const { body, dropped } = encode({ input: [...items, output, { ...result }] })
    const { status: _, id: _id, ...sent } = nested
    expect(body['input']).toEqual([program, sent, output, result])
    expect(dropped).toEqual([])
  })

  it('is named in a stream, too, by the calls it made, including those of free-form tools', () => {
    const custom = { type: 'custom_tool_call', id: 'ctc_1', call_id: 'call_2', name: 'sql', input: '', caller }
    const { events } = decode([
      { type: 'response.output_item.added', output_index: 0, item: { ...nested, arguments: '', status: 'in_progress' } },
      { type: 'response.function_call_arguments.done', output_index: 0, arguments: nested.arguments },
      { type: 'response.output_item.done', output_index: 0, item: nested },
      { type: 'response.output_item.added', output_index: 1, item: custom },
      { type: 'response.output_item.done', output_index: 1, item: { ...custom, input: 'SELECT 1', status: 'completed' } },
      { type: 'response.completed', response: { id: 'r', status: 'completed', output: [] } },
    ])
    expect(fold(events).items.map(({ start }) => start['caller'])).toEqual([caller, caller])
  })

  it('gets results from clients that leave out its id', () => {
    const { caller: _, ...bare } = output
    expect(encode({ input: [...told([program, nested]), bare] }).body['input']).toContainEqual(output)
    expect(encode({ input: [{ ...bare }, ...told([program, nested])] }).body['input']).toContainEqual(output)
  })

  it('is left out where another account wrote it, and its calls become ordinary ones', () => {
    const items = [...told([program, nested]), output, result]
    const others = encode({ input: items }, { scope: 'acme/other' })
    const { caller: _, status: _status, id: _id, ...call } = nested
    const { caller: _caller, ...bare } = output
    expect(others.body['input']).toEqual([call, bare])
    expect(others.dropped).toEqual(['input: program of another endpoint', 'input: program_output of another endpoint'])
    const without = encode({ input: items }, { options: { builtin_tools: ['web_search'] } })
    expect(without.body['input']).toEqual([call, bare])
  })

  it('is not named by calls that the model made itself', () => {
    const direct = { ...nested, caller: { type: 'direct' } }
    expect(told([direct])[0]).toMatchObject({ caller: { type: 'direct' } })
    const { caller: _, status: _status, id: _id, ...call } = nested
    const { caller: _caller, ...bare } = output
    expect(encode({ input: [...told([direct]), { ...output, caller: { type: 'direct' } }] }).body['input']).toEqual([call, bare])
  })

  it('gets the same new ids where ids are too long', () => {
    const long = `call_${'x'.repeat(80)}`
    const items = told([
      { ...program, call_id: long },
      { ...nested, caller: { ...caller, caller_id: long } },
    ])
    const [first, second] = encode({ input: [...items, output] }).body['input'] as readonly JsonObject[]
    expect(String(first!['call_id']).length).toBeLessThanOrEqual(64)
    expect((second!['caller'] as JsonObject)['caller_id']).toBe(first!['call_id'])
  })
})

describe('tools for programs', () => {
  it('have allowed_callers where programs are supported, and not elsewhere', () => {
    const tools = [stock, run, { type: 'programmatic_tool_calling' }] as never
    expect(encode({ tools }).body['tools']).toEqual([stock, run, { type: 'programmatic_tool_calling' }])
    const { body, dropped } = encode({ tools }, { options: { builtin_tools: ['web_search'] } })
    const { allowed_callers: _, output_schema: _schema, ...plain } = stock
    expect(body['tools']).toEqual([plain, { type: 'custom', name: 'sql' }])
    expect(dropped).toEqual(['tools: programmatic_tool_calling'])
  })
})
