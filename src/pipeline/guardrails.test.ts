import { expect, it } from 'vitest'
import type { Call, Handler } from '../core/call.ts'
import type { Guardrails } from '../core/guardrail.ts'
import type { ModelRequest } from '../core/request.ts'
import { systemClock } from '../lib/clock.ts'
import { guardrailLayer, unreadLayer } from './guardrails.ts'

const said = { model: 'acme/small', input: [{ type: 'message', role: 'user', content: 'I am jane@example.com' }] } as const

async function run(pattern: string, refuses: boolean, request: ModelRequest = said): Promise<Call> {
  const rules = { content_filters: [{ pattern, action: 'redact' as const }] }
  const applied = [{ id: 'g', name: 'g', scope: 'workspace' as const, rules }]
  const guardrails: Guardrails = { of: () => applied }
  const trace = { pipeline: [] } as unknown as Call['trace']
  const call = { request, trace, signal: new AbortController().signal, clock: systemClock } as unknown as Call
  const end: Handler = async function* () {}
  const filters = guardrailLayer({ guardrails, catalog: () => ({}) as never, defaults: () => ({}) })(end)
  const limits: Handler = async function* (each) {
    if (refuses) throw new Error('limit')
    yield* filters(each)
  }
  try {
    for await (const _ of unreadLayer({ guardrails })(limits)(call)) break
  } catch {}
  return call
}

it('a request that no filter has read yet is kept without its texts', async () => {
  expect(JSON.stringify((await run('jane', true)).trace.keptRequest)).toContain('[NOT_READ]')
  expect(JSON.stringify((await run('jane', false)).trace.keptRequest)).toContain('I am [REDACTED]@')
})

it('withholding texts takes no time, whatever their number, because a caller is not charged for a refusal', async () => {
  const read = (): never => {
    throw new Error('read')
  }
  const long = new Proxy([], { get: read, ownKeys: read })
  const kept = { tool_choice: 'required', trace: { trace_id: 't' } } as const
  const request = { ...kept, input: long, instructions: 'jane', user: 'jane', metadata: { jane: 'jane' }, stop: 'jane', tools: long }
  const { keptRequest } = (await run('jane', true, { ...request, trace: { ...kept.trace, trace_name: 'jane', of: 'jane' } })).trace
  expect(keptRequest).toEqual({
    ...kept,
    input: [{ type: 'message', role: 'user', content: '[NOT_READ]' }],
    user: '[NOT_READ]',
    metadata: { '[NOT_READ]': '[NOT_READ]' },
  })
})

it('a pattern that cannot be read, as in a row edited by hand, takes nothing from records', async () => {
  expect((await run('(', false)).trace.keptRequest).toBeUndefined()
})
