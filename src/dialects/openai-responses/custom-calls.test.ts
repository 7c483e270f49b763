import { expect, it } from 'vitest'
import type { ModelRequest } from '../../core/request.ts'
import { decodeBody, fold } from './__fixtures__/harness.ts'

it('marks a call of a function that stands for a free-form tool when its input breaks off, whatever the upstream says', () => {
  const request: ModelRequest = { input: [], tools: [{ type: 'custom', name: 'patch' }] }
  const end = (args: string): unknown => {
    const output = [{ type: 'function_call', call_id: 'c', name: 'patch', arguments: args, status: 'completed' }]
    return fold(decodeBody({ output }, { request, options: { custom_tools: false } }).events).items[0]?.end
  }
  expect(end('{"input":"*** Begin Patch')).toEqual({ status: 'incomplete' })
  expect(end('{"input":"*** Begin Patch"}')).toEqual({ status: 'completed' })
})
