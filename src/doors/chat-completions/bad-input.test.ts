import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type GatewayError, isGatewayError } from '../../core/error.ts'
import { change, mutate, type Json } from '../../testing/mutate-json.ts'
import { BODIES } from './__fixtures__/bodies.ts'
import { decodeResponsesRequest } from '../responses/decode-request.ts'
import type { Read } from '../shared/door.ts'
import { withOwnPath } from '../shared/own-path.ts'
import { chatCompletions } from './door.ts'

/** Why one of the two validations refuses a body; undefined if both accept it. */
function refusal(body: unknown): GatewayError | undefined {
  let read: Read | undefined
  try {
    read = chatCompletions.read(body)
    decodeResponsesRequest(read.body)
    return undefined
  } catch (error) {
    if (isGatewayError(error)) return withOwnPath(error, read?.pathOf)
    throw error
  }
}

/** Splits `a.b[0]["c d"]` into its steps. */
const steps = (path: string): string[] =>
  [...path.matchAll(/\[(\d+)\]|\["((?:[^"\\]|\\.)*)"\]|([\w-]+)/g)].map(([, index, quoted, name]) => index ?? quoted ?? name!)

/** Whether the path exists in the body; only its last step may be missing. */
function leadsThrough(body: unknown, path: string): boolean {
  let at = body
  for (const step of steps(path).slice(0, -1)) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, step)) return false
    at = (at as { readonly [step: string]: unknown })[step]
  }
  return typeof at === 'object' && at !== null
}

const hello = [{ role: 'user', content: 'hello' }]
const allowed = (...tools: unknown[]) => ({ type: 'allowed_tools', allowed_tools: { mode: 'required', tools } })
const assistant = (message: object) => ({ messages: [{ role: 'assistant', content: 'x', ...message }] })

describe('input that only this format has', () => {
  it.each<readonly [string, object]>([
    ['include', { messages: hello, logprobs: true, include: 5 }],
    ['include', { messages: hello, logprobs: true, include: 'all' }],
    ['tool_choice.allowed_tools.tools[0]', { messages: hello, tool_choice: allowed('look') }],
    ['tool_choice.allowed_tools.tools[0].function', { messages: hello, tool_choice: allowed({ type: 'function', name: 'look' }) }],
    ['tool_choice.allowed_tools.tools[0].function.name', { messages: hello, tool_choice: allowed({ type: 'function', function: {} }) }],
    ['tools[0].custom.format.grammar', { messages: hello, tools: [{ type: 'custom', custom: { name: 'g', format: { type: 'grammar' } } }] }],
    ['tools[0].filters', { messages: hello, tools: [{ type: 'web_search', filters: 'a.example' }] }],
    ['tools[0].filters.allowed_domains', { messages: hello, tools: [{ type: 'web_search', filters: { allowed_domains: 5 } }] }],
    ['tools[0].filters.blocked_domains[0]', { messages: hello, tools: [{ type: 'web_search', filters: { blocked_domains: ['x'.repeat(2_049)] } }] }],
    ['messages[0].function_call', assistant({ function_call: { name: 'look', arguments: '{}' } })],
    ['previous_response_id', { messages: hello, previous_response_id: 'resp_1' }],
    ['conversation', { messages: hello, conversation: 'conv_1' }],
  ])('an error at %s has that path', (path, body) => {
    const error = refusal(body)
    expect([error?.errorType, error?.details.path]).toEqual(['invalid_request', path])
    expect(error?.message).toMatch(/^[^\n]{1,1000}\.$/)
    expect(error?.message).not.toMatch(/"input"/)
  })

  it.each([[{ content: null }], [{ content: '', reasoning: '', tool_calls: [] }], [{ content: [{ type: 'text', text: '' }] }]])(
    'messages without content are not a prompt: %j',
    (message) => {
      const error = refusal(assistant(message))
      expect([error?.errorType, error?.details.path]).toEqual(['invalid_prompt', 'messages'])
    },
  )

  it.each<readonly [string, object]>([
    ['tool_choice.function.name', { type: 'function', function: { name: 'look' } }],
    ['tool_choice.custom.name', { type: 'custom', custom: { name: 'look' } }],
    ['tool_choice.allowed_tools.tools', allowed({ type: 'function', function: { name: 'look' } })],
    ['tool_choice.allowed_tools.tools', allowed({ type: 'allowed_tools', allowed_tools: { mode: 'auto', tools: [] } })],
    ['tool_choice.type', { type: 'web_search' }],
  ])('a choice of a tool that is not offered is an error at %s', (path, choice) => {
    const error = refusal({ messages: hello, tool_choice: choice })
    expect([error?.errorType, error?.details.path]).toEqual(['unprocessable', path])
    expect(error?.message.startsWith(`${path} `)).toBe(true)
  })
})

describe('bodies with something broken', () => {
  it('are valid before', () => {
    for (const body of BODIES) expect(refusal(body)).toBeUndefined()
  })

  it('are accepted, or refused in one sentence that names a path of the body', () => {
    fc.assert(
      fc.property(fc.nat(BODIES.length - 1), fc.array(change, { minLength: 1, maxLength: 3 }), (base, changes) => {
        const body = changes.reduce<Json>(mutate, structuredClone(BODIES[base]) as Json)
        const error = refusal(body)
        if (error === undefined) return
        const { path } = error.details
        const isTold = path === 'body' || (path !== undefined && leadsThrough(body, path))
        const problem = isTold && [400, 422].includes(error.status) && /^[^\n]{1,1000}$/.test(error.message) ? '' : `${path}: ${error.message}`
        expect([JSON.stringify(body).slice(0, 2_000), problem]).toEqual([expect.anything(), ''])
      }),
      { numRuns: 3_000 },
    )
  })
})
