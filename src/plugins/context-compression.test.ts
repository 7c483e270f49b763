import { describe, expect, it } from 'vitest'
import type { InputItem } from '../core/item.ts'
import { estimateRequest } from '../router/estimate.ts'
import { testEndpoint } from '../testing/endpoints.ts'
import { testContext } from '../testing/plugin-context.ts'
import { describePluginContract, SECRET_WORD } from '../testing/plugin-contract.ts'
import { createContextCompression } from './context-compression.ts'

const tokensOf = (request: Parameters<typeof estimateRequest>[0]): number => estimateRequest(request).inputTokens
const plugin = createContextCompression({ tokensOf })
const small = testEndpoint({ contextLength: 4_096 })

const user = (content: string): InputItem => ({ type: 'message', role: 'user', content })
const assistant = (content: string): InputItem => ({ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: content }] })
const system = (content: string): InputItem => ({ type: 'message', role: 'system', content })
const words = (n: number, word = 'lorem'): string => `${word} `.repeat(n)
const turns = (n: number, size = 60): InputItem[] =>
  Array.from({ length: n }, (_, turn) => [user(`question ${turn} ${words(size)}`), assistant(`answer ${turn} ${words(size)}`)]).flat()

describePluginContract({
  plugin,
  accepts: [{}, { engine: 'middle-out' }],
  refuses: [{ engine: 'summary' }],
  untouched: [
    { request: { input: [user('hi')] }, endpoint: small },
    { request: { input: turns(10) }, endpoint: testEndpoint({ contextLength: 128_000 }) },
  ],
  touched: [{ request: { input: [...turns(60), user(`tell me of the ${SECRET_WORD}`)] }, endpoint: small }],
})

const compress = async (input: readonly InputItem[], contextLength = 4_096, more: object = {}) => {
  const { context, reported } = testContext({ engine: 'middle-out' as const })
  const adapted = await plugin.adapts!.adapt({ input, ...more }, testEndpoint({ contextLength }), context, false)
  return { input: adapted?.input ?? input, stage: reported[0]?.stage, request: adapted }
}

describe('what is left out', () => {
  const input = [system('be brief'), ...turns(60), user('and now?')]

  it('is the middle: the instructions, the start and the end stay, in their order', async () => {
    const { input: kept } = await compress(input)
    expect(kept.length).toBeLessThan(input.length)
    expect(kept[0]).toEqual(input[0])
    expect(kept[1]).toEqual(input[1])
    expect(kept.at(-1)).toEqual(input.at(-1))
    expect(kept.at(-2)).toEqual(input.at(-2))
    const whole = kept.filter((item) => input.includes(item))
    expect(whole).toEqual(input.filter((item) => whole.includes(item)))
  })

  it.each([1_024, 4_096, 6_000])('makes a prompt fit a window of %i tokens, with room for an answer', async (window) => {
    const { request } = await compress(input, window)
    expect(tokensOf(request!)).toBeLessThan(window * 0.8)
    expect(tokensOf(request!)).toBeGreaterThan(window * 0.3)
  })

  it('leaves as much room as the caller wants for the answer', async () => {
    const { request } = await compress(input, 4_096, { max_output_tokens: 3_000 })
    expect(tokensOf(request!)).toBeLessThan(1_096)
  })

  it('counts what instructions and tools take', async () => {
    const { request } = await compress(input, 4_096, { instructions: words(1_500) })
    expect(tokensOf(request!)).toBeLessThan(3_300)
  })

  it('is never the question, even if plugins have added more after it than fits', async () => {
    const asked = [...turns(3), user('how far is the moon?')]
    const { context } = testContext({ engine: 'middle-out' as const }, { request: { input: asked } })
    const prepared = { input: [...asked, user(`Pages: ${words(20_000)}`)] }
    const adapted = await plugin.adapts!.adapt(prepared, small, context, false)
    expect(adapted?.input).toContainEqual(user('how far is the moon?'))
    expect(tokensOf(adapted!)).toBeLessThan(4_096)
  })

  it('never separates a call from its result', async () => {
    const calls: InputItem[] = Array.from({ length: 40 }, (_, n): InputItem[] => [
      { type: 'reasoning', summary: [{ type: 'summary_text', text: words(20) }] },
      { type: 'function_call', call_id: `c${n}`, name: 'look', arguments: '{}' },
      { type: 'function_call_output', call_id: `c${n}`, output: words(120) },
    ]).flat()
    const { input: kept } = await compress([user('start'), ...calls, user('and?')])
    const ids = (type: string): unknown[] => kept.filter((item) => item.type === type).map((item) => (item as { call_id: string }).call_id)
    expect(ids('function_call')).toEqual(ids('function_call_output'))
    expect(ids('function_call').length).toBeGreaterThan(2)
    expect(ids('function_call').length).toBeLessThan(40)
    expect(kept.filter(({ type }) => type === 'reasoning')).toHaveLength(ids('function_call').length)
  })

  it('is the middle of the steps since the question, too, because agents work long on one', async () => {
    const calls: InputItem[] = Array.from({ length: 60 }, (_, n): InputItem[] => [
      { type: 'function_call', call_id: `c${n}`, name: 'look', arguments: '{}' },
      { type: 'function_call_output', call_id: `c${n}`, output: `result ${n} ${words(120)}` },
    ]).flat()
    const question = user('look everywhere')
    const { input: kept, stage } = await compress([system('be brief'), question, ...calls])
    expect(kept[1]).toEqual(question)
    expect(kept.at(-1)).toEqual(calls.at(-1))
    expect(kept).toContain(calls[1])
    expect(kept.length).toBeLessThan(40)
    expect(stage?.data).toMatchObject({ truncated_count: 0 })
  })

  it('is found in time linear in the prompt', async () => {
    const many = Array.from({ length: 20_000 }, (_, n) => user(`message ${n} ${words(10)}`))
    let weighed = 0
    const counting = createContextCompression({
      tokensOf: (request) => {
        weighed += request.input.length
        return tokensOf(request)
      },
    })
    const { context } = testContext({ engine: 'middle-out' as const })
    await counting.adapts!.adapt({ input: many }, small, context, false)
    expect(weighed).toBeLessThan(many.length * 6)
  })

  it('is the middle of the question itself when that alone is too long', async () => {
    const { input: kept, stage } = await compress([user(`Begin. ${words(20_000)} The end is a question?`)])
    const text = (kept[0] as { content: string }).content
    expect(text).toMatch(/^Begin\. /)
    expect(text).toMatch(/The end is a question\?$/)
    expect(text).toContain('[... left out ...]')
    expect(stage?.data).toMatchObject({ original_count: 1, compressed_count: 1, truncated_count: 1 })
  })

  it('is more when the endpoint has refused a prompt as too long that should have fitted', async () => {
    const { context } = testContext({ engine: 'middle-out' as const })
    const adapted = (tooLong: boolean) => plugin.adapts!.adapt({ input }, testEndpoint({ contextLength: 16_000 }), context, tooLong)
    expect(await adapted(false)).toBeUndefined()
    const shorter = await adapted(true)
    expect(tokensOf(shorter!)).toBeLessThan(tokensOf({ input }) * 0.61)
  })

  it('is never half a character', async () => {
    const { input: kept } = await compress([user('🎼'.repeat(20_000))])
    expect((kept[0] as { content: string }).content.isWellFormed()).toBe(true)
  })
})

describe('endpoints it works for', () => {
  it('are all when the caller requests compression', () => expect(plugin.adapts!.shortensUpTo!({ engine: 'middle-out' })).toBe(Infinity))

  it('are those of 8,192 tokens or less by default', async () => {
    const standing = plugin.adapts!.standing!
    expect(plugin.adapts!.shortensUpTo!(standing)).toBe(8_192)
    const { context, reported } = testContext(standing)
    const long = { input: [...turns(400), user('and?')] }
    expect(await plugin.adapts!.adapt(long, testEndpoint({ contextLength: 8_193 }), context, false)).toBeUndefined()
    expect(await plugin.adapts!.adapt(long, testEndpoint({ contextLength: 8_192 }), context, false)).toBeDefined()
    expect(reported).toHaveLength(1)
  })
})
