import { expect, it } from 'vitest'
import type { ModelRequest } from '../core/request.ts'
import type { Offer } from './offered-tool.ts'
import { unknownTool } from './unknown-tool.ts'

const nothing = { tools: [], byFunction: new Map(), deferred: [] } as unknown as Offer
const message = { type: 'message', role: 'user', content: 'hi' } as const
const stands = (request: Partial<ModelRequest>): boolean => unknownTool(nothing, { input: [message], ...request }) !== undefined

it('an unknown function is answered by the gateway only if the caller can have none', () => {
  expect(stands({})).toBe(true)
  expect(stands({ prompt: null })).toBe(true)
  expect(stands({ input: [message, { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' }] })).toBe(false)
})

it('a prompt that the provider keeps may hold functions of the caller', () => {
  expect(stands({ prompt: { id: 'pmpt_1' } })).toBe(false)
})
