import { describe, expect, it } from 'vitest'
import type { CallTrace } from '../core/call.ts'
import { NO_COST } from '../core/cost.ts'
import { PICTURE_TOKENS } from '../core/picture-items.ts'
import type { ModelRequest } from '../core/request.ts'
import { testEndpoint } from '../testing/endpoints.ts'
import { toolPrices } from './answer-cost.ts'
import { likelyUsage, ToolBill, type Spent } from './tool-bill.ts'

const traceOf = (parent?: CallTrace): CallTrace => ({
  strategy: 'direct',
  candidates: [],
  rejected: new Map(),
  attempts: [],
  pipeline: [],
  params: {},
  ...(parent === undefined ? {} : { parent }),
})

/** What a call may still spend is known from the prices of its tools: what is held counts until it is known what it came to. */
const stage = () => {
  const root = traceOf()
  // A model that a tool asked has tools of its own: they are paid for by the call it belongs to.
  const asked: number[] = []
  const bill = new ToolBill(traceOf(root), (usd) => {
    asked.push(usd)
    root.toolPrices = (root.toolPrices ?? 0) + usd
    return Promise.resolve()
  })
  return { root, asked, bill, held: () => toolPrices(root) }
}

describe('the purchase of a tool', () => {
  it('is reserved until it is paid, and then has its actual cost', async () => {
    const { bill, held, asked } = stage()
    await bill.afford(0.25)
    await bill.afford(0.5)
    expect([asked, held(), bill.spent.cost.total]).toEqual([[0.25, 0.5], 0.75, 0])
    bill.pay(0.125)
    expect([held(), bill.spent.cost.total]).toEqual([0.125, 0.125])
    bill.end(1)
    expect([held(), bill.spent.cost.total]).toEqual([1.125, 1.125])
  })

  it('is released when it failed', async () => {
    const { bill, held } = stage()
    await bill.afford(0.25)
    bill.release()
    bill.release()
    expect([held(), bill.spent.cost.total]).toEqual([0, 0])
  })

  it.each([true, false])(
    'costs what it was expected to if the caller leaves meanwhile, and nothing once it is over (limited: %s)',
    async (limited) => {
      const { root, bill: limitedBill } = stage()
      const bill = limited ? limitedBill : new ToolBill(root)
      await bill.afford(0.25)
      bill.leave()
      bill.leave()
      expect([toolPrices(root), bill.spent.cost.total]).toEqual([0.25, 0.25])
      await bill.afford(0.5)
      bill.pay(0.125)
      bill.leave()
      expect([toolPrices(root), bill.spent.cost.total]).toEqual([0.375, 0.375])
    },
  )

  it('is not reserved for a tool that was aborted while it asked', async () => {
    const { bill, held } = stage()
    const asking = bill.afford(0.25)
    bill.end(0)
    await asking
    expect(held()).toBe(0)
  })

  it('needs no admission where spending is not limited', async () => {
    const root = traceOf()
    for (const bill of [new ToolBill(root), new ToolBill(root, () => undefined)]) await bill.afford(0.25)
    expect(root.toolPrices).toBeUndefined()
    const refused = new ToolBill(root, () => Promise.reject(new Error('less is left')))
    await expect(refused.afford(0.25)).rejects.toThrow('less is left')
    refused.end(0)
    expect(toolPrices(root)).toBe(0)
  })
})

it('the bill adds up the cost of models so far, own keys separately, and the tool’s own purchases', () => {
  const { bill, held } = stage()
  let first: Spent = { cost: NO_COST, tokens: 0 }
  bill.ask(() => first)
  bill.ask(() => ({ cost: { ...NO_COST, total: 2, output: 2, byok: 2 }, tokens: 20 }))
  bill.pay(0.5)
  expect(bill.spent).toEqual({ cost: { ...NO_COST, total: 2.5, output: 2, byok: 2 }, tokens: 20 })
  first = { cost: { ...NO_COST, total: 1, input: 1 }, tokens: 10 }
  expect(bill.spent).toEqual({ cost: { ...NO_COST, total: 3.5, input: 1, output: 2, byok: 2 }, tokens: 30 })
  // Limits hear of models by their own attempts.
  expect(held()).toBe(0.5)
})

it('the estimate counts four characters as a token, rounded up, and is marked as an estimate', () => {
  const request: ModelRequest = { input: [] }
  const { inputTokens } = likelyUsage(request, { chars: 0, pictures: 0 }, traceOf())
  expect(likelyUsage(request, { chars: 9, pictures: 0 }, { ...traceOf(), undeliveredTokens: 5 })).toEqual({
    inputTokens,
    cachedTokens: 0,
    cacheWriteTokens: 0,
    outputTokens: 8,
    reasoningTokens: 0,
    totalTokens: inputTokens + 8,
    estimated: true,
  })
})

it('the estimate counts what has a price of its own: pictures and sounds of the prompt, and pictures of the answer', () => {
  const content = [
    { type: 'input_image', image_url: 'https://example.com/a.png' },
    { type: 'input_audio', input_audio: { data: 'A'.repeat(15_000), format: 'wav' } },
  ]
  const request: ModelRequest = { input: [{ type: 'message', role: 'user', content }] }
  const served = { endpoint: testEndpoint({ outputModalities: ['text', 'image'] }) } as CallTrace['served'] & object
  expect(likelyUsage(request, { chars: 0, pictures: 1 }, { ...traceOf(), served, undeliveredPictures: 1 })).toMatchObject({
    imageInputTokens: 600,
    audioInputTokens: 10,
    outputTokens: 2 * PICTURE_TOKENS,
    imageOutputTokens: 2 * PICTURE_TOKENS,
  })
})
