import { expect, it } from 'vitest'
import type { ModelRequest } from '../../core/request.ts'
import { decode, decodeBody, fold } from './__fixtures__/harness.ts'

it('marks a call of a function that stands for a free-form tool when its input breaks off, whatever the upstream says', () => {
  const request: ModelRequest = { input: [], tools: [{ type: 'custom', name: 'patch' }] }
  const end = (args: string): unknown => {
    const output = [{ type: 'function_call', call_id: 'c', name: 'patch', arguments: args, status: 'completed' }]
    return fold(decodeBody({ output }, { request, options: { custom_tools: false } }).events).items[0]?.end
  }
  expect(end('{"input":"*** Begin Patch')).toEqual({ status: 'incomplete' })
  expect(end('{"input":"*** Begin Patch"}')).toEqual({ status: 'completed' })
})

it('keeps the numbers of arguments that come as an object, streamed or whole', () => {
  const item = '{"type":"function_call","call_id":"c","name":"f","arguments":{"id":12345678901234567890,"x":1.0}}'
  const args = '{"id":12345678901234567890,"x":1.0}'
  const completed = { type: 'response.completed', response: { status: 'completed', output: [] } }
  expect(fold(decode([`{"type":"response.output_item.done","output_index":0,"item":${item}}`, completed]).events).items[0]?.arguments).toBe(args)
  expect(fold(decodeBody(`{"status":"completed","output":[${item}]}`).events).items[0]?.arguments).toBe(args)
})

it('leaves calls for the caller unfinished when the answer is cut before their end', () => {
  const patch = (status: string) => ({ type: 'apply_patch_call', call_id: 'c', status, operation: { type: 'update_file', path: 'a', diff: '@@' } })
  const added = { type: 'response.output_item.added', output_index: 0, item: patch('in_progress') }
  const ends = (output: readonly object[]): unknown => {
    const { events } = decode([added, { type: 'response.incomplete', response: { status: 'incomplete', output } }])
    return fold(events).items[0]?.end?.['status']
  }
  expect(ends([])).toBe('incomplete')
  expect(ends([patch('in_progress')])).toBe('incomplete')
  expect(ends([patch('completed')])).toBe('completed')
  const bare = decodeBody({ status: 'incomplete', output: [{ type: 'compaction', encrypted_content: 'x' }] })
  expect(fold(bare.events).items[0]?.end).not.toHaveProperty('status')
})
