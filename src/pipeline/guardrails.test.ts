import { describe, expect, it } from 'vitest'
import type { Call, Handler } from '../core/call.ts'
import type { FilterAction, Guardrails } from '../core/guardrail.ts'
import type { ModelRequest } from '../core/request.ts'
import { systemClock } from '../lib/clock.ts'
import { guardrailLayer, unreadLayer } from './guardrails.ts'

const said = { model: 'acme/small', input: [{ type: 'message', role: 'user', content: 'I am jane@example.com' }] } as const

interface Outcome extends Pick<Call, 'trace'> {
  readonly passed: boolean
  readonly refusal?: unknown
}

async function run(pattern: string, refuses: boolean, request: ModelRequest = said, action: FilterAction = 'redact'): Promise<Outcome> {
  const rules = { content_filters: [{ pattern, action }] }
  const applied = [{ id: 'g', name: 'g', scope: 'workspace' as const, rules }]
  const guardrails: Guardrails = { of: () => applied }
  const trace = { pipeline: [] } as unknown as Call['trace']
  const call = { request, trace, signal: new AbortController().signal, clock: systemClock } as unknown as Call
  let passed = false
  const end: Handler = async function* () {
    passed = true
    yield []
  }
  const filters = guardrailLayer({ guardrails, catalog: () => ({}) as never, defaults: () => ({}), maxTexts: 3 })(end)
  const limits: Handler = async function* (each) {
    if (refuses) throw new Error('limit')
    yield* filters(each)
  }
  try {
    for await (const _ of unreadLayer({ guardrails })(limits)(call)) break
  } catch (refusal) {
    return { trace, passed, refusal }
  }
  return { trace, passed }
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

describe('a request of more texts than can be read', () => {
  const many = (count: number): ModelRequest => ({ input: [{ type: 'acme', texts: Array.from({ length: count }, () => 'a') }] })

  it('is refused, and kept without its texts: a list of them would take many times the memory of the body', async () => {
    const { trace, refusal } = await run('jane', false, many(4))
    expect(String(refusal)).toContain('Request blocked by content filters, which did not read it to its end: it has more than 3 texts')
    expect(trace.keptRequest?.input).toEqual([{ type: 'message', role: 'user', content: '[NOT_READ]' }])
  })

  it('is passed on where filters only flag, and read as far as that', async () => {
    const { passed, trace } = await run('a', false, many(4), 'flag')
    expect([passed, trace.pipeline]).toMatchObject([true, [{ data: { action: 'flagged' } }]])
  })

  it('is one with as many as that', async () => {
    const { passed } = await run('jane', false, many(3))
    expect(passed).toBe(true)
  })
})

it('a pattern that cannot be read, as in a row edited by hand, takes nothing from records', async () => {
  expect((await run('(', false)).trace.keptRequest).toBeUndefined()
})
