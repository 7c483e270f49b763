import { describe, expect, it } from 'vitest'
import type { ModelRequest } from '../../core/request.ts'
import { target } from './__fixtures__/harness.ts'
import type { TargetParts } from './__fixtures__/harness.ts'
import { openAiResponses } from './index.ts'

function encode(request: Partial<ModelRequest>, parts: TargetParts) {
  const { body, dropped } = openAiResponses.encodeRequest({ input: [], ...request }, target(parts))
  return { body: JSON.parse(body) as { readonly [field: string]: unknown }, dropped }
}

describe('a bound on calls of tools', () => {
  const asked = (tools: ModelRequest['tools'], options: TargetParts['options'] = {}, max_tool_calls = 2) =>
    encode({ tools, max_tool_calls }, { options })
  const search = { type: 'web_search' } as const
  const mine = { type: 'function', name: 'f', parameters: {} } as const

  it('is sent for tools the endpoint runs itself, where it supports one', () => {
    expect(asked([search, mine], { max_tool_calls: true }).body['max_tool_calls']).toBe(2)
    expect(asked([search], { max_tool_calls: true }, 99).body['max_tool_calls']).toBe(30)
  })
  it('is sent for such tools in the input', () => {
    const input = [{ type: 'additional_tools', role: 'developer', tools: [mine, search] }] as unknown as ModelRequest['input']
    expect(encode({ input, max_tool_calls: 2 }, { options: { max_tool_calls: true } }).body['max_tool_calls']).toBe(2)
  })
  it('is sent for such tools in a namespace', () => {
    const namespace = (...tools: readonly object[]) => ({ type: 'namespace', name: 'n', tools }) as const
    expect(asked([namespace(mine, search)], { max_tool_calls: true }).body['max_tool_calls']).toBe(2)
    expect(asked([namespace(mine)], { max_tool_calls: true }).body).not.toHaveProperty('max_tool_calls')
  })
  it('is reported where it is not supported', () => {
    const { body, dropped } = asked([search])
    expect([body['max_tool_calls'], dropped]).toEqual([undefined, ['max_tool_calls']])
  })
  it('is neither sent nor reported where the endpoint runs no tools', () => {
    const { body, dropped } = asked([mine])
    expect([body['max_tool_calls'], dropped]).toEqual([undefined, []])
  })
})
