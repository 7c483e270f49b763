import { describe, expect, it } from 'vitest'
import type { DeliveryRecord } from '../core/delivery.ts'
import { fullGeneration } from '../testing/sample-generations.ts'
import { toDeliveryRecord } from './record.ts'
import { shrinkRecord } from './shrink.ts'

const long = 'w'.repeat(50_000)
const { generation, content } = fullGeneration()

const record = (privacyMode: boolean, words = long): DeliveryRecord =>
  toDeliveryRecord(
    { ...generation, parameters: { stop: [words] }, trace: { note: words, deep: [{ note: words }] } },
    {
      ...content,
      instructions: words,
      output: [{ type: 'gateway:datetime', id: 'dt_1', call_id: 'call_dt', status: 'completed', arguments: words, output: words }],
    },
    { privacyMode, broadcast: { cost: false, identity: false, requestContext: false } },
  )

const steps = (whole: DeliveryRecord): readonly DeliveryRecord[] => {
  const shortened: DeliveryRecord[] = []
  for (let shorter = shrinkRecord(whole, 1); shorter !== undefined; shorter = shrinkRecord(whole, shortened.length + 1)) shortened.push(shorter)
  return shortened
}

describe('a record that is too large', () => {
  it('loses half its text with every step, wherever it is, then its content, and says so', () => {
    const all = steps(record(false))
    for (const shorter of all) {
      expect(shorter).toMatchObject({ truncated: true, gateway: { content_truncated: true } })
      expect(shorter.generation.usage).toEqual(generation.usage)
    }
    const [first] = all
    const kept = first!.content!.instructions!.indexOf(' ')
    expect(kept).toBeGreaterThan(20_000)
    expect(kept).toBeLessThan(25_000)
    for (const text of [first!.metadata['note'], first!.children.at(-1)?.input, first!.children.at(-1)?.output])
      expect(text).toBe(`${'w'.repeat(kept)} [truncated from 50000 characters]`)
    expect(first!.generation.parameters['stop']).toEqual([`${'w'.repeat(kept)} [truncated from 50000 characters]`])
    const sizes = all.map((shorter) => JSON.stringify(shorter).length)
    expect(sizes.toSorted((a, b) => b - a)).toEqual(sizes)
    expect(all.at(-1)?.content).toBeUndefined()
    expect(all.at(-1)?.children.at(-1)).not.toHaveProperty('input')
  })

  it('keeps something of every message of a long conversation, and all of the short ones', () => {
    const input = Array.from({ length: 1_000 }, (_, i) => ({ type: 'message' as const, role: 'user' as const, content: `${i} ${'w'.repeat(1_000)}` }))
    const long = toDeliveryRecord(
      generation,
      { ...content, input: [...input, { type: 'message', role: 'user', content: 'and now?' }] },
      { privacyMode: false, broadcast: { cost: false, identity: false, requestContext: false } },
    )
    const second = shrinkRecord(long, 2)!
    expect(JSON.stringify(second.content).length).toBeLessThan(400_000)
    for (const [i, item] of second.content!.input.slice(0, -1).entries())
      expect(item).toHaveProperty('content', expect.stringMatching(`^${i} w{200}`))
    expect(second.content!.input.at(-1)).toHaveProperty('content', 'and now?')
    expect(second.content!.output).toEqual(long.content!.output)
  })

  it('keeps the newest of thousands of short messages, with the answer', () => {
    const input = Array.from({ length: 8_000 }, (_, i) => ({ type: 'message' as const, role: 'user' as const, content: `${i} ${'w'.repeat(90)}` }))
    const whole = toDeliveryRecord(
      generation,
      { ...content, input },
      { privacyMode: false, broadcast: { cost: false, identity: false, requestContext: false } },
    )
    const all = steps(whole)
    const kept = all.map((shorter) => shorter.content?.input ?? [])
    expect(kept[0]!.length).toBeGreaterThan(3_500)
    for (const [n, items] of kept.entries()) {
      expect(items).toEqual(items.length === 0 ? [] : input.slice(-items.length))
      expect(items.length).toBeLessThan(n === 0 ? 4_000 : kept[n - 1]!.length)
    }
    for (const { content: left } of all.slice(0, -1)) expect(left?.output).toEqual(whole.content?.output)
    expect(all.at(-1)?.content).toBeUndefined()
  })

  it('loses text of its metadata where it has no content, while that is long', () => {
    const all = steps(record(true))
    expect(all.at(-1)?.metadata['deep']).toEqual([{ note: `${'w'.repeat(1_024)} [truncated from 50000 characters]` }])
    expect(all.length).toBeLessThan(8)
  })

  it.each([true, false])('loses text of its names and tags as well if it would not fit otherwise (private: %s)', (privacyMode) => {
    const whole = toDeliveryRecord(
      { ...generation, trace: { trace_name: long, span_name: long, generation_name: long, tags: [long, 'blue'], environment: long, release: long } },
      content,
      { privacyMode, broadcast: { cost: false, identity: false, requestContext: false } },
    )
    const last = steps(whole).at(-1)!
    const beginning = `${'w'.repeat(256)} [truncated from 50000 characters]`
    expect(last.names).toEqual({ trace: beginning, wrapper: beginning, generation: beginning })
    expect(last).toMatchObject({ tags: [beginning, 'blue'], environment: beginning, release: beginning, ids: whole.ids })
    expect(steps(record(privacyMode)).at(-1)?.names).toEqual(record(privacyMode).names)
  })

  it('loses entries of its metadata in the end, where these are large without a long text', () => {
    const many = Array.from({ length: 50_000 }, (_, i) => `chunk ${i}`)
    const whole = toDeliveryRecord({ ...generation, trace: { team: 'search', chunks: many, score: 0.5 } }, content, {
      privacyMode: true,
      broadcast: { cost: false, identity: false, requestContext: false },
    })
    expect(steps(whole).at(-1)?.metadata).toEqual({ ...generation.metadata, team: 'search', score: 0.5 })
  })

  it('loses the largest of its parameters in the end, such as a bias for every token', () => {
    const logit_bias = Object.fromEntries(Array.from({ length: 50_000 }, (_, token) => [token, -1]))
    const whole = toDeliveryRecord({ ...generation, parameters: { temperature: 0.2, logit_bias, top_p: 0.9 } }, content, {
      privacyMode: false,
      broadcast: { cost: false, identity: false, requestContext: false },
    })
    expect(steps(whole).at(-1)?.generation.parameters).toEqual({ temperature: 0.2, top_p: 0.9 })
  })

  it('never ends in half a character', () => {
    for (const words of ['\u{1f600}'.repeat(20_000), `x${'\u{1f600}'.repeat(20_000)}`])
      expect(JSON.stringify(shrinkRecord(record(false, words), 1))).not.toMatch(/\\ud[89a-f]/)
  })
})
