import { describe, expect, it } from 'vitest'
import type { ModelEvent } from '../../core/event.ts'
import { chatTarget } from './__fixtures__/target.ts'
import { ChatDecoder } from './stream.ts'

type Json = Record<string, unknown>

function decode(...deltas: readonly (readonly [delta: Json, finish?: string])[]): ModelEvent[] {
  const decoder = new ChatDecoder({ input: [{ type: 'message', role: 'user', content: 'Hi' }] }, chatTarget())
  const out: ModelEvent[] = []
  for (const [delta, finish_reason = null] of deltas) {
    decoder.push(JSON.stringify({ id: 'x', model: 'm', choices: [{ index: 0, delta, finish_reason }] }), undefined, out)
  }
  decoder.push('[DONE]', undefined, out)
  return out
}

const said = (events: readonly ModelEvent[], type: ModelEvent['type']): string =>
  events.map((event) => (event.type === type && 'delta' in event ? event.delta : '')).join('')

describe('thoughts', () => {
  it('are found under the name that Copilot and proxies of it give them', () => {
    const events = decode([{ reasoning_text: 'why' }], [{ content: 'so' }, 'stop'])
    expect([said(events, 'reasoning-delta'), said(events, 'text-delta')]).toEqual(['why', 'so'])
  })

  it('are found among the parts of the content, as Databricks has them', () => {
    const part = (text: string): Json => ({ content: [{ type: 'reasoning', summary: [{ type: 'summary_text', text }] }] })
    const events = decode([part('be')], [part('cause')], [{ content: [{ type: 'text', text: 'so' }] }, 'stop'])
    expect([said(events, 'reasoning-delta'), said(events, 'text-delta')]).toEqual(['because', 'so'])
  })
})

describe('a finish reason of another format', () => {
  it.each(['function_call_filter: MALFORMED_FUNCTION_CALL', 'function_call_filter: UNEXPECTED_TOOL_CALL'])('is a failure: %s', (finish) => {
    expect(() => decode([{ content: 'Let me look.' }], [{}, finish])).toThrow(`ended with "${finish}"`)
  })

  it('is a filter', () => {
    const events = decode([{ content: 'Once' }], [{}, 'content_filter: PROHIBITED_CONTENT'])
    expect(events.at(-1)).toMatchObject({ type: 'response-end', reason: 'content_filter' })
  })
})

describe('a call whose pieces are counted like calls', () => {
  const piece = (index: number, args: string, more: Json = {}): readonly [Json] => [
    { tool_calls: [{ index, ...more, function: { arguments: args, ...(index === 0 ? { name: 'look' } : {}) } }] },
  ]

  it('is one call', () => {
    const events = decode(piece(0, '', { id: 'call_1' }), piece(1, '{"a":'), piece(2, '1}'), [{}, 'tool_calls'])
    expect(events.filter(({ type }) => type === 'item-start')).toHaveLength(1)
    expect(said(events, 'arguments-delta')).toBe('{"a":1}')
  })

  it('is over once it is whole', () => {
    expect(() => decode(piece(0, '{"a":1}', { id: 'call_1' }), piece(1, '{"b":2}'), [{}, 'tool_calls'])).toThrow('a tool call without a name')
  })
})

describe('counts that come in several reports', () => {
  const report = (usage: Json): string => JSON.stringify({ id: 'x', model: 'm', choices: [], usage })
  const counted = (...reports: readonly Json[]): unknown => {
    const decoder = new ChatDecoder({ input: [{ type: 'message', role: 'user', content: 'Hi' }] }, chatTarget())
    const out: ModelEvent[] = []
    decoder.push(JSON.stringify({ id: 'x', model: 'm', choices: [{ index: 0, delta: { content: 'Hi' }, finish_reason: 'stop' }] }), undefined, out)
    for (const usage of reports) decoder.push(report(usage), undefined, out)
    decoder.push('[DONE]', undefined, out)
    return out.at(-1)
  }
  const whole = { prompt_tokens: 100, completion_tokens: 7, total_tokens: 107, prompt_tokens_details: { cached_tokens: 90 } }

  it('stand though the last is only what it has cost', () => {
    expect(counted(whole, { cost: 0.25 })).toMatchObject({ usage: { inputTokens: 100, cachedTokens: 90, outputTokens: 7, reportedCost: 0.25 } })
  })
  it('stand though the last leaves out what was cached', () => {
    const { prompt_tokens_details: _, ...sums } = whole
    expect(counted(whole, sums)).toMatchObject({ usage: { inputTokens: 100, cachedTokens: 90, outputTokens: 7 } })
  })
  it('grow', () => {
    expect(counted({ prompt_tokens: 100, completion_tokens: 1 }, whole)).toMatchObject({ usage: { inputTokens: 100, outputTokens: 7 } })
  })
})

describe('sources', () => {
  it('are found in what the tools of the server found, as Groq has them', () => {
    const search = (...results: readonly Json[]): Json => ({ executed_tools: [{ index: 0, type: 'search', search_results: { results } }] })
    const visit = { executed_tools: [{ index: 1, type: 'visit', browser_results: [{ url: 'http://b', title: 'B' }] }, null] }
    const events = decode(
      [search()],
      [search({ url: 'http://a', title: 'A', content: 'c' })],
      [visit],
      [{ content: 'so' }],
      [{ content: '.' }, 'stop'],
    )
    expect(events.flatMap((event) => (event.type === 'annotation' ? [event.annotation] : []))).toEqual([
      { type: 'url_citation', url: 'http://a', title: 'A', start_index: 3, end_index: 3 },
      { type: 'url_citation', url: 'http://b', title: 'B', start_index: 3, end_index: 3 },
    ])
  })
})

it('the text of an answer that is spoken are its words', () => {
  const speak = (audio: Json): [Json] => [{ content: null, audio }]
  const events = decode(speak({ id: 'a' }), speak({ transcript: 'Hel' }), speak({ data: 'AAAA' }), speak({ transcript: 'lo' }), [{}, 'stop'])
  expect(said(events, 'text-delta')).toBe('Hello')
})
